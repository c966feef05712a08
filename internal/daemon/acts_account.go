package daemon

import (
	"context"
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

// planPasswd changes the master password. The old one makes the proof of presence, which carries the new one.
func planPasswd(r *request) (*act, error) {
	var in api.Passwd
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if r.acts.unattended && r.isPerson() {
		return nil, api.Errorf(api.Denied, "the password of an unattended account is the daemon's own").
			WithHint("set up an account with a password of your own: warder setup")
	}
	return &act{
		needs: []policy.Need{policy.ToSetPassword}, text: "change the master password",
		run: func(context.Context) (*api.Reply, error) {
			if r.carried.Len() == 0 {
				return nil, usage("the proof of presence carries no new password")
			}
			if err := r.account.SetPassword(r.carried); err != nil {
				return nil, err
			}
			return &api.Reply{Output: r.receipt}, nil
		},
	}, nil
}

// planNewKit makes a new recovery kit. It comes as two values: the device secret and the recovery code.
func planNewKit(r *request) (*act, error) {
	var in api.Act
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	return &act{
		needs: []policy.Need{policy.ToMakeKit}, text: "make a new recovery kit, after which the one before opens nothing",
		run: func(context.Context) (*api.Reply, error) {
			kit, err := r.account.NewKit()
			if err != nil {
				return nil, err
			}
			return &api.Reply{
				Output: api.KitInfo{Receipt: r.receipt, Account: kit.Account.String(), StateCode: kit.StateCode},
				Values: []secret.Value{kit.DeviceSecret, kit.RecoveryCode},
			}, nil
		},
	}, nil
}

// planRepairList reads the whole store again and says what is wrong with it. The names of orphans are hidden from agents.
func planRepairList(r *request) (*act, error) {
	return &act{
		needs: []policy.Need{policy.ToLook}, text: "look for what is wrong with the store",
		run: func(context.Context) (*api.Reply, error) {
			orphans, err := r.account.Repair().Orphans()
			if err != nil {
				return nil, err
			}
			out := api.RepairList{Findings: []api.Finding{}, Orphans: []api.Orphan{}}
			for _, f := range r.account.Findings() {
				out.Findings = append(out.Findings, api.Finding{Kind: string(f.Kind), Object: f.Object, Text: f.Text})
			}
			for _, o := range orphans {
				row := api.Orphan{ID: o.Item.String(), Vault: nameOfVault(r, o.Vault), Kind: string(o.Kind), Name: o.Name, Modified: stamp(o.Modified)}
				if !r.isPerson() {
					row.Vault, row.Name = o.Vault.String(), ""
				}
				out.Orphans = append(out.Orphans, row)
			}
			r.Facts["findings"], r.Facts["orphans"] = len(out.Findings), len(out.Orphans)
			return &api.Reply{Output: out}, nil
		},
	}, nil
}

// vaultName is a vault's name, or its id if it has none.
func nameOfVault(r *request, id seal.ID) string {
	for _, v := range r.account.Vaults() {
		if v.ID() == id {
			return v.Name()
		}
	}
	return id.String()
}

// The repairs.
const (
	repairAccept = "accept-restore"
	repairDevice = "new-device"
	repairAdopt  = "adopt"
	repairForget = "forget"
)

// planRepair puts one thing right.
func planRepair(r *request) (*act, error) {
	var in api.RepairAct
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	var id seal.ID
	if in.Do == repairAdopt || in.Do == repairForget {
		var err error
		if id, err = seal.ParseID(in.ID); err != nil {
			return nil, usage("%s needs the id of an item: 32 hexadecimal digits", in.Do)
		}
	}
	p := &repair{r: r, id: id}
	runs := map[string]struct {
		text string
		run  func() error
	}{
		repairAccept: {"take the store as it is now for the truth, whatever this device remembers", p.accept},
		repairDevice: {"give this device a new identity in the account", p.device},
		repairAdopt:  {fmt.Sprintf("take the left-over file of item %s for its content", id), p.adopt},
		repairForget: {fmt.Sprintf("give up item %s for good", id), p.forget},
	}
	chosen, known := runs[in.Do]
	if !known {
		return nil, usage("%q is none of accept-restore, new-device, adopt, forget", in.Do)
	}
	p.done = api.Repaired{Mended: []string{}, Lost: []string{}}
	return &act{
		needs: []policy.Need{policy.ToRepair}, text: chosen.text,
		run: func(context.Context) (*api.Reply, error) {
			if err := chosen.run(); err != nil {
				return nil, err
			}
			r.Facts["do"], r.Facts["mended"], r.Facts["lost"] = in.Do, len(p.done.Mended), len(p.done.Lost)
			return &api.Reply{Output: p.done}, nil
		},
	}, nil
}

// repair is one repair under way.
type repair struct {
	r    *request
	id   seal.ID
	done api.Repaired
}

func (p *repair) accept() error {
	restored, err := p.r.account.Repair().AcceptRestore()
	for _, id := range restored.Mended {
		p.done.Mended = append(p.done.Mended, id.String())
	}
	for _, id := range restored.Lost {
		p.done.Lost = append(p.done.Lost, id.String())
	}
	return err
}

func (p *repair) device() error { return p.r.account.Repair().NewDevice() }

// adopt takes the newest of the item's left-over files.
func (p *repair) adopt() error {
	orphans, err := p.r.account.Repair().Orphans()
	if err != nil {
		return err
	}
	var newest *vault.Orphan
	for i, o := range orphans {
		if o.Item == p.id && (newest == nil || o.Modified.After(newest.Modified)) {
			newest = &orphans[i]
		}
	}
	if newest == nil {
		return api.Errorf(api.NotFound, "nothing is left over of item %s", p.id).WithHint("see what needs repair: warder status; to give the item up: warder repair forget ID")
	}
	return p.r.account.Repair().Adopt(*newest)
}

func (p *repair) forget() error {
	for _, v := range p.r.account.Vaults() {
		if err := p.r.account.Repair().Forget(v, p.id); !errors.Is(err, vault.ErrNotFound) {
			return err
		}
	}
	return api.Errorf(api.NotFound, "there is no item %s", p.id)
}
