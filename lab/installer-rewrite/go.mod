module konnectivity-bootstrap/lab/installer-rewrite

go 1.26.2

// As in openshift-install's own go.mod.
require (
	github.com/clarketm/json v1.14.1
	github.com/coreos/ignition/v2 v2.24.0
	github.com/vincent-petithory/dataurl v1.0.0
)

require (
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd/v22 v22.6.0 // indirect
	github.com/coreos/vcontext v0.0.0-20230201181013-d72178a18687 // indirect
)
