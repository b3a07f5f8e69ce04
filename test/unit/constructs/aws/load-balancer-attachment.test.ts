import { describe, expect, it } from "vitest";
import { exampleStack, resources } from "../../../support/stacks.ts";

const attachments = (options?: object) => resources(exampleStack("aws", options), "aws_lb_target_group_attachment");

describe("the machine behind the API's load balancers on AWS", () => {
  it("joins the groups that are given, each at its port", () => {
    const group = (name: string, port: number) =>
      expect.objectContaining({
        target_group_arn: expect.stringContaining(`targetgroup/${name}/`) as string,
        port,
      }) as object;
    expect(attachments()).toEqual([group("api-ext", 6443), group("api-int", 6443), group("mcs", 22623)]);
    expect(attachments({ externalApiTargetGroupArn: undefined })).toHaveLength(2);
  });

  it("joins by address or by instance, as the group says", () => {
    for (const { target_id } of attachments())
      expect(target_id).toMatch(
        /^\$\{\(data\.aws_lb_target_group\.[\w-]+\.target_type == "ip"\) \? aws_instance\.machine\.private_ip : aws_instance\.machine\.id\}$/,
      );
  });

  it("joins none if something else balances the API", () => {
    const none = {
      externalApiTargetGroupArn: undefined,
      internalApiTargetGroupArn: undefined,
      internalServiceTargetGroupArn: undefined,
    };
    expect(attachments({ ...none, autoRegisterELB: false })).toEqual([]);
  });
});
