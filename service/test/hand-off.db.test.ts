import { describe, expect, it } from 'vitest'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { until } from './harness/wait.ts'

const test = useDatabase()
const app = useCallApp(test, { agent: { agent_name: 'Robin', greeting: 'Hello.', tools: ['hand_off'] } })

const names = (table: 'call_logs' | 'voice_sessions') =>
  test.db
    .selectFrom(table)
    .select(['agent_key', 'agent_name', 'version_number', 'ended_at'])
    .where('call_sid', '=', 'CA1')
    .executeTakeFirstOrThrow()

/** An agent of the tenant's that has been published. */
async function billing(): Promise<void> {
  const path = '/tenants/acme/agents'
  const named = { agent_key: 'billing', name: 'Billing' }
  const { agent } = await app.served.administer<{ agent: { id: string } }>('POST', path, named)
  await app.served.publish('acme', agent.id, { agent_name: 'Billie', instructions: 'Refund them.' })
}

describe('a call that its agent hands to another one', () => {
  it('is known by that one from then on, also to whoever would have to go on with it', async () => {
    await billing()
    const caller = await app.talk({ CallSid: 'CA1' })
    const first = app.model.last
    first.tell({ type: 'response_started', responseId: 'r' })
    const argumentsText = JSON.stringify({ agent_key: 'billing' })
    first.tell({ type: 'tool_call', responseId: 'r', itemId: 'f', callId: 'c', name: 'hand_off', argumentsText })
    await until(() => app.model.last !== first, { what: 'the session of the other agent' })
    expect(app.model.last.setup.instructions).toContain('Refund them.')
    const handed = { agent_key: 'billing', agent_name: 'Billie', version_number: 1 }
    await until(async () => (await names('voice_sessions')).agent_key === 'billing', { what: 'the note of that' })
    expect(await names('call_logs')).toMatchObject({ ...handed, ended_at: null })
    caller.send({ event: 'stop', streamSid: 'MZCA1', stop: {} })
    await app.pass(async () => (await names('voice_sessions')).ended_at !== null, 'the end to be written down')
    expect(await names('voice_sessions')).toMatchObject(handed)
    expect(await names('call_logs')).toMatchObject(handed)
  })
})
