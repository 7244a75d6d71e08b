import { describe, expect, inject, it } from 'vitest'
import { beat, removeNode, saysStopping } from '../src/platform/nodes/heartbeat-store.ts'
import { OTHER_NODE } from '../src/records/calls.fixture.ts'
import { useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { until } from './harness/wait.ts'

const PUBLIC_URL = 'https://voice.example.com'
const { kind } = inject('databaseTemplate')

describe('a call that another node takes', () => {
  const test = useDatabase()
  const app = useCallApp(test, { settings: { DRAIN_SECONDS: '5', PUBLIC_URL } })

  function session() {
    return test.db.selectFrom('voice_sessions').select(['end_reason', 'ended_at']).executeTakeFirstOrThrow()
  }

  function entry() {
    return test.db.selectFrom('call_directory').select(['owner', 'epoch']).executeTakeFirstOrThrow()
  }

  /** The node stops with a call on it, and the other one is heard until the calls are to end. */
  async function drained(): Promise<void> {
    let isOver = false
    void app.served.app.drain().then(() => {
      isOver = true
    })
    await app.clock.advance(4_000)
    await app.pass(() => beat(test.db, OTHER_NODE, '1').then(() => isOver), 'the end of the calls')
  }

  it.runIf(kind === 'server')('is sent there at the end of a drain, and is not ended here', async () => {
    const client = await app.talk({ CallSid: 'CA1' })
    await beat(test.db, OTHER_NODE, '1')
    await drained()
    expect(await client.closed()).toBe(1000)
    expect(app.rest.requests).toMatchObject([
      { path: expect.stringContaining('/Calls/CA1.json'), form: { Twiml: expect.stringContaining(PUBLIC_URL) } },
    ])
    expect(await entry()).toEqual({ owner: null, epoch: 2 })
    expect(await session()).toEqual({ end_reason: null, ended_at: null })
  })

  it.runIf(kind === 'server')('is ended here when its carrier does not take it there', async () => {
    app.rest.reply = ({ form }) => (form['Twiml'] ? { status: 401, body: {} } : { status: 200, body: {} })
    await app.talk({ CallSid: 'CA1' })
    await beat(test.db, OTHER_NODE, '1')
    await drained()
    await until(async () => (await session()).ended_at, { what: 'the end to be written down' })
    expect(await session()).toMatchObject({ end_reason: 'shutdown' })
    expect(app.rest.requests.at(-1)).toMatchObject({ form: { Status: 'completed' } })
  })

  it('is ended here when the other one stops too, or is gone', async () => {
    await app.talk({ CallSid: 'CA1' })
    await beat(test.db, OTHER_NODE, '1')
    await saysStopping(test.db, OTHER_NODE)
    await drained()
    await until(async () => (await session()).ended_at, { what: 'the end to be written down' })
    expect(app.rest.requests).toMatchObject([{ form: { Status: 'completed' } }])
    await removeNode(test.db, OTHER_NODE)
  })

  // An embedded database has no other node: whose call is not here is nobody's.
  it.runIf(kind === 'server')(
    'is let go of by a node that was away, which neither ends it nor writes of it',
    async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      await beat(test.db, OTHER_NODE, '1')
      await test.db.updateTable('call_directory').set({ owner: OTHER_NODE, epoch: 2 }).execute()
      const heard = () => beat(test.db, OTHER_NODE, '1')
      await app.pass(() => heard().then(() => client.closeCode), 'the end of the stream')
      expect(app.rest.requests).toEqual([])
      expect(await session()).toEqual({ end_reason: null, ended_at: null })
      const lines = app.served.logLines().filter(({ msg }) => msg === 'a call was taken by another node')
      expect(lines).toMatchObject([{ tenant_id: 'acme', call_sid: 'CA1' }])
    },
  )
})
