module konnectivity-bootstrap/test/clouds/ignition

go 1.26.2

// Newer than Debian's: it reads blobs of Azure with the identity of a machine.
require github.com/coreos/ignition/v2 v2.26.0
