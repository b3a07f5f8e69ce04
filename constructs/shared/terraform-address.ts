import { TerraformDataSource, type TerraformResource } from "cdktf";

/** A resource's address as Terraform spells it, for conditions and lifecycle rules, where a token would be wrapped. */
export function addressOf(element: TerraformResource | TerraformDataSource): string {
  const address = `${element.terraformResourceType}.${element.friendlyUniqueId}`;
  return TerraformDataSource.isTerraformDataSource(element) ? `data.${address}` : address;
}
