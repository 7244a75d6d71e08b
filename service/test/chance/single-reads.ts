import { QUEUES } from './asking.ts'
import type { Model } from './model.ts'
import { unlikeRow } from './unlike.ts'
import type { Json, World } from './world.ts'

/** What the service shows of things that are read one by one, and that is not as the model has it. */
export async function unlikeSingles(world: World, model: Model): Promise<string[]> {
  const faults: string[] = []
  const read = async (path: string, wanted: (body: Json) => [got: unknown, wanted: unknown][]) => {
    const { body } = await world.read(null, path)
    for (const [got, should] of wanted(body))
      faults.push(...unlikeRow(got, should).map((fault) => `GET ${path}: ${fault}`))
  }
  for (const [tenant, { queues, policies }] of Object.entries(model.tenants)) {
    for (const key of QUEUES) {
      const own = queues[key]
      await read(`/admin/tenants/${tenant}/operator-queues/${key}`, ({ queue, is_set: isSet }) => [
        [isSet, own !== undefined],
        ...(own ? ([[queue, own]] as [unknown, unknown][]) : []),
      ])
    }
    for (const [agentId, policy] of Object.entries(policies))
      await read(`/admin/tenants/${tenant}/agents/${agentId}/rollout-policy`, (body) => [[body['policy'], policy]])
  }
  await read('/admin/tenants/umbrella', ({ etag }) => [[etag ?? null, model.umbrella?.tag ?? null]])
  return faults
}
