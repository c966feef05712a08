# Reads the output of verbose tests of several packages. Prints for each package
# how many tests passed and were skipped, why, which of them root ran again as
# an ordinary user, and which worlds of processes could be built; all that a
# failed package printed, less what belongs to tests that passed; and at last
# the counts of all.

# Which test the following lines belong to.
/^=== (RUN|CONT|NAME) / { owner = $3; next }
/^=== PAUSE / { next }

# The verdicts. Those of subtests are indented.
/^ *--- (PASS|FAIL|SKIP): / {
	verdict[$3] = $2
	if (/^---/) {
		counts[$2]++
		owner = ""
	}
	if ($2 == "SKIP:") skips[++skip] = $3
	if ($2 == "FAIL:") line[++lines] = $0
	next
}

/^(ok|FAIL|\?) *\t/ {
	finish()
	next
}

{
	line[++lines] = $0
	of[lines] = owner
	if (match($0, /\.go:[0-9]+: /)) {
		said[owner] = substr($0, RSTART + RLENGTH)
		if (said[owner] ~ /^ran as uid [0-9]+: /) dropped[++drops] = said[owner]
		if (said[owner] ~ /^world [a-z0-9-]+: /) dropped[++drops] = said[owner]
	}
}

# finish ends a package, at the line that names it.
function finish(    i) {
	if ($1 == "FAIL") {
		print "-- " $2
		for (i = 1; i <= lines; i++) if (verdict[of[i]] !~ /PASS|SKIP/) print line[i]
		if (counts["FAIL:"] == 0) broken++ # did not build, or died
	}
	if ($1 != "?") {
		printf "%-4s %s: %d passed, %d failed, %d skipped\n", $1, $2, counts["PASS:"], counts["FAIL:"], counts["SKIP:"]
	}
	for (i = 1; i <= drops; i++) print "       " dropped[i]
	for (i = 1; i <= skip; i++) print "       skipped " skips[i] ": " said[skips[i]]
	passed += counts["PASS:"]
	failed += counts["FAIL:"]
	skipped += counts["SKIP:"]
	lines = skip = drops = 0
	owner = ""
	split("", line); split("", of); split("", verdict); split("", said); split("", counts)
}

END {
	failed += broken
	for (i = 1; i <= lines; i++) print line[i]
	if (passed + failed == 0) {
		print "no test ran"
		exit 1
	}
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
}
