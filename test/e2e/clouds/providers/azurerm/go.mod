module konnectivity-bootstrap/test/clouds/providers/azurerm

go 1.26.6

// The provider's 5.2.0: its tags since 2.0 are no Go modules.
require github.com/hashicorp/terraform-provider-azurerm v1.44.1-0.20260824201233-fae580791926
