module konnectivity-bootstrap/test/clouds/providers/google

go 1.26.2

// The provider's 6.50.0: its tags since 2.0 are no Go modules.
require github.com/hashicorp/terraform-provider-google v1.20.1-0.20250919180509-956f510990a7
