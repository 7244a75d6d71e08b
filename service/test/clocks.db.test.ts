import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { sharedClockOf } from '../src/database.ts'
import { makeDeps } from '../src/deps.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { SharedClock } from '../src/kernel/shared-clock.ts'
import { makeLog } from '../src/platform/log.ts'
import { TestClock } from './harness/clock.ts'
import { useDatabase } from './harness/database.ts'
import { passing } from './harness/passing.ts'
import { ScriptedModel } from './harness/scripted-model.ts'
import { ServedApp } from './harness/served-app.ts'
import { StreamClient } from './harness/stream-client.ts'
import { copyTemplate } from './harness/template.ts'
import { until } from './harness/wait.ts'

const AHEAD_MS = 600_000

/** On a server: the embedded database has one node. */
describe.runIf(inject('databaseTemplate').kind === 'server')('F75: a node whose clock is ten minutes ahead', () => {
  const test = useDatabase()
  let here: ServedApp
  let ahead: ServedApp
  let aheadClock: TestClock

  beforeEach(async () => {
    const model = new ScriptedModel()
    const nowMs = systemClock.now()
    here = await ServedApp.start(test, { model, clock: new TestClock(nowMs) })
    aheadClock = new TestClock(nowMs + AHEAD_MS)
    ahead = await ServedApp.start(test, {
      ...{ model, besides: here, database: await test.anotherNode(), sharedClock: new SharedClock(aheadClock) },
    })
    await here.furnish('acme', { number: '+12025550140', agent: { agent_name: 'Robin' } })
    const isSet = () => ahead.logLines().some(({ msg }) => msg === "the clock of this node was set by the database's")
    await until(isSet, { what: 'the first beat' })
  })
  afterEach(() => Promise.all([here.app.close(), ahead.app.close()]))

  type Call = { call_sid: string; stream_token: string }

  async function called(): Promise<Call> {
    return (await here.call<Call>('acme', 'POST', '/browser-calls', { agent_key: 'desk' })).body
  }

  async function lookAt(callSid: string): Promise<Date | null> {
    const entries = test.db.selectFrom('call_directory').select('look_at').where('call_sid', '=', callSid)
    return (await entries.executeTakeFirstOrThrow()).look_at
  }

  it('leaves calls from pages to those who opened them until they are due', async () => {
    const [young, old] = [await called(), await called()]
    const before = await lookAt(young.call_sid)
    const due = new Date(systemClock.now() - 60_000)
    await test.db.updateTable('call_directory').set({ look_at: due }).where('call_sid', '=', old.call_sid).execute()
    const isLookedAt = async () => (await lookAt(old.call_sid)) === null
    await passing(aheadClock, isLookedAt, { what: 'the call that is due to be looked at', stepMs: 1_000 })
    expect(await lookAt(young.call_sid)).toEqual(before)
  })

  it('takes streams whose tokens another node gave', async () => {
    const { call_sid: callSid, stream_token } = await called()
    const client = await StreamClient.open(ahead.address, `/media-stream?stream_token=${stream_token}`)
    client.start({ callSid })
    const status = async () => (await here.call<{ call_logs: { status: string }[] }>('acme', 'GET', '/call-logs')).body
    await until(async () => (await status()).call_logs[0]?.status === 'in-progress', { what: 'the session' })
    expect(client.closeCode).toBeNull()
  })
})

describe.runIf(inject('databaseTemplate').kind === 'server')(
  'a node that starts where the clock is ten minutes ahead',
  () => {
    it('goes by that of the database at once, its log as well, and says so', async () => {
      const copy = await copyTemplate(inject('databaseTemplate'))
      const lines: string[] = []
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + AHEAD_MS })
      try {
        const config = readConfig({ ...copy.settings })
        const sharedClock = sharedClockOf(config)
        const destination = { write: (line: string) => void lines.push(line) }
        const now = () => sharedClock?.now() ?? 0
        const log = makeLog({ level: 'warn', secrets: [], destination, now })
        const deps = await makeDeps(config, log, { version: '0', pid: process.pid, sharedClock })
        const rightMs = performance.timeOrigin + performance.now()
        expect(Math.abs(deps.clock.now() - rightMs)).toBeLessThan(AHEAD_MS / 10)
        // With the lines of other nodes, which are read together with its own, it is of one time.
        expect(Math.abs(Date.parse(JSON.parse(lines[0] ?? '').time) - rightMs)).toBeLessThan(AHEAD_MS / 10)
        expect(lines.map((line) => JSON.parse(line))).toMatchObject([
          { msg: "the clock of this node was set by the database's", forward_ms: expect.closeTo(-AHEAD_MS, -5) },
        ])
        deps.cluster.close()
        deps.metrics.stop()
        await deps.database.close()
      } finally {
        vi.useRealTimers()
        await copy.remove()
      }
    })
  },
)
