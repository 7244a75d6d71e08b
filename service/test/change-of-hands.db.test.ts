import { beforeEach, describe, expect, inject, it } from 'vitest'
import { beat } from '../src/platform/nodes/heartbeat-store.ts'
import { OTHER_NODE } from '../src/records/calls.fixture.ts'
import { streamTokenIn, useCallApp } from './harness/call-app.ts'
import { useDatabase } from './harness/database.ts'
import { GatedDatabase } from './harness/gated-database.ts'
import { ACCOUNT } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { until } from './harness/wait.ts'

const RESUME = { CallSid: 'CA1', AccountSid: ACCOUNT.sid, CallStatus: 'in-progress' }
const TRY_AGAIN = 1013

// An embedded database has no other node: whose call is not here is nobody's.
describe.runIf(inject('databaseTemplate').kind === 'server')(
  'a call that another node has without this one’s knowing',
  () => {
    const test = useDatabase()
    const gate = new GatedDatabase()
    const app = useCallApp(test, { database: async () => gate.of(test.database) })
    beforeEach(() => {
      gate.isAway = false
    })

    const resume = async (path = '/api/v1/call-resume') => (await app.post(path, { form: RESUME })).text
    const session = () => test.db.selectFrom('voice_sessions').selectAll().executeTakeFirstOrThrow()
    const ends = () => app.rest.requests.filter(({ form }) => form['Status'] === 'completed')

    async function phase(): Promise<string | null> {
      const { body } = await app.served.call<{ sessions: { state: string }[] }>('acme', 'GET', '/sessions/active')
      return body.sessions[0]?.state ?? null
    }

    async function streamOf(document: string, streamSid: string): Promise<StreamClient> {
      const client = await StreamClient.open(app.served.address)
      client.start({ callSid: 'CA1', streamSid, parameters: { stream_token: streamTokenIn(document) } })
      return client
    }

    it('is not ended by it, though it was about to have a stream of the same epoch itself', async () => {
      const client = await app.talk({ CallSid: 'CA1' })
      client.terminate()
      await app.pass(async () => (await phase()) === 'detached', 'the session to notice')
      const document = await resume()
      gate.refuse()
      expect(await (await streamOf(document, 'MZ2')).closed()).toBe(TRY_AGAIN)
      await beat(test.db, OTHER_NODE, '1')
      await test.db.updateTable('call_directory').set({ owner: OTHER_NODE, epoch: 2 }).execute()
      await test.db.updateTable('call_resumes').set({ promised_at: null }).execute()
      await app.served.call('acme', 'POST', '/sessions/MZCA1/actions', { action: 'end_call' })
      await app.pass(async () => (await phase()) === null, 'the session here to be over')
      await until(
        () => app.served.logLines().some(({ msg }) => msg === 'a call was left to the stream that has taken it'),
        {
          what: 'the carrier not to be asked',
        },
      )
      expect([ends(), (await session()).ended_at]).toEqual([[], null])
    })
  },
)
