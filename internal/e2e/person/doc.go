// Package person builds worlds in which a test can be a person, although the
// tests themselves may run beneath an agent.
//
// # What it answers for
//
//   - A [World] is a new pid namespace with a /proc of its own, and a user
//     namespace where the test is not root. Nothing above its first process can
//     be seen from inside, so what runs there is judged by what the test built.
//   - A [Terminal] is a real pseudo terminal with a real shell below a program
//     with a terminal's name. The test types into it and reads its screen.
//   - [World.Run] runs a program in the same world beneath an agent, beneath
//     nobody, or as another user.
//   - When the test ends, everything in the world is killed by the kernel, the
//     daemon that was started there included, and its folder is removed.
//
// # What it refuses to do
//
// It changes nothing about how a caller is judged. The programs with a name,
// such as kitty or claude, are copies of the test binary, and the executable
// under test is the ordinary one: a person's account of malware could build the
// same world, which is the limit that package caller names.
//
// Where a machine has no namespaces, [Start] skips the test with the reason.
//
// # Use
//
// The test binary plays the programs, so its TestMain has to be
//
//	func TestMain(m *testing.M) { os.Exit(person.Main(m)) }
//
// # Files
//
//	main.go      Main: the parts that the test binary plays
//	init.go      the first process of a world
//	layout.go    the folder of a world, its programs and environment
//	world.go     World, Command, Result
//	terminal.go  Terminal: typing and waiting
//	place.go     other ways to have a terminal: a container, and entering one
package person
