import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import { startWebhookTarget, type WebhookTarget } from '../../test/harness/webhook-target.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import { systemClock } from '../kernel/clock.ts'
import type { AgentId, TenantId } from '../kernel/ids.ts'
import { readPage } from '../kernel/pages.ts'
import { makeLog } from '../platform/log.ts'
import { makeOutbound } from '../platform/outbound/outbound.ts'
import { wavFile } from '../platform/speech/wav.fixture.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import { agentConfigDefaults } from '../tenancy/agent-config-defaults.ts'
import { type AgentVersions, makeAgentVersions } from './agent-versions.ts'
import { makeAgents } from './agents.ts'
import { type Clips, makeClips } from './clips.ts'
import { makeFetchHoldAudio } from './hold-audio.ts'

const ACME = 'acme' as TenantId
const MUSIC = wavFile({ hz: 16_000, samples: Array.from({ length: 32_000 }, (_, at) => 8_000 * Math.sin(at / 6)) })

const test = useDatabase()
let host: WebhookTarget
let lines: Record<string, unknown>[]
let made: Clips[]
let agentId: AgentId

beforeAll(async () => {
  host = await startWebhookTarget()
})
afterAll(() => host.close())
beforeEach(async () => {
  lines = []
  made = []
  host.received.length = 0
  host.answer({ status: 200, body: MUSIC })
  await makeTenant(test.db, ACME)
  await makeTenant(test.db, 'globex')
  const agents = makeAgents({ db: test.db, clock: systemClock })
  agentId = (await agents.create(ACME, { agentKey: 'desk', name: 'Desk', description: '' }, THE_SYSTEM)).id
})
afterEach(() => Promise.all(made.map((clips) => clips.close())))

/** One process, which reaches addresses of this machine unless it may not. */
function node({ allowPrivate = true } = {}): { clips: Clips; versions: AgentVersions } {
  const of = { db: test.db, clock: systemClock }
  const clips = makeClips({
    ...{ db: test.db, speech: null, isRehearsal: false, tenants: { get: async (id: TenantId) => tenantTold(id) } },
    // It stands still: a call waits for the database for a quarter of a second, in which a busy machine may not answer.
    clock: new TestClock(),
    log: makeLog({ level: 'debug', secrets: [], destination: { write: (line) => lines.push(JSON.parse(line)) } }),
    fetchHoldAudio: makeFetchHoldAudio(makeOutbound({ clock: systemClock, allowPrivate })),
  })
  made.push(clips)
  return { clips, versions: makeAgentVersions({ ...of, keepHoldAudio: clips.keepHoldAudio.bind(clips) }) }
}

const configOf = () => agentConfigDefaults({ hold_audio: host.url })

async function publishing(by = node()) {
  const { id } = await by.versions.create(ACME, agentId, { hold_audio: host.url }, THE_SYSTEM)
  return { id, publish: () => by.versions.publish(ACME, id, THE_SYSTEM) }
}

describe('what a version has callers on hold hear', () => {
  it('is fetched once, when it is published, and is there for the calls of every process', async () => {
    const { publish } = await publishing()
    expect(await publish()).toMatchObject({ status: 'published' })
    const [clip] = await node().clips.of(tenantTold(ACME), configOf())
    expect(clip).toMatchObject({ kind: 'hold', words: host.url, ms: 2_000 })
    const again = await publishing()
    await again.publish()
    expect(host.received.map(({ method, headers }) => [method, headers.accept])).toEqual([
      ['GET', 'audio/wav, audio/*'],
    ])
  })

  // The answer is no part of the name: to write 12 MiB into it takes a quarter of a minute.
  it.each([
    ['answers 404 and not 200', { status: 404 }],
    ['answers 302 and not 200', { status: 302, headers: { location: 'http://127.0.0.1/' } }],
    ['is no WAV file', { status: 200, body: '<html></html>' }],
    ['is not of 0.5 to 60 s', { status: 200, body: wavFile({ hz: 8_000, samples: [1] }) }],
    ['is too long', { status: 200, body: Buffer.alloc(12 * 1024 * 1024, 1) }],
  ])('is refused at its publication when it %s, and the version stays a draft', async (reason, answer) => {
    host.answer(answer)
    const { id, publish } = await publishing()
    await expect(publish()).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`The file at the version's hold_audio ${reason}`),
    })
    const { rows } = await node().versions.list(ACME, agentId, readPage({}))
    expect(rows.find((version) => version.id === id)?.status).toBe('draft')
  })

  it('is not had from a network that this service stands in', async () => {
    const { publish } = await publishing(node({ allowPrivate: false }))
    await expect(publish()).rejects.toMatchObject({ message: expect.stringContaining('hold_audio cannot be had: ') })
    expect(host.received).toEqual([])
  })

  it('does not stand in the way back to a version that was in use', async () => {
    const { publish } = await publishing()
    await publish()
    const next = await node().versions.create(ACME, agentId, {}, THE_SYSTEM)
    await node().versions.publish(ACME, next.id, THE_SYSTEM)
    await test.db.deleteFrom('clips').execute()
    host.answer({ status: 500 })
    expect(await publish()).toMatchObject({ status: 'published' })
  })

  it('is not fetched to be published while another file of the same tenant is, which is no fault of its own', async () => {
    host.answer('hang', { status: 200, body: MUSIC })
    const { clips } = node()
    const first = clips.keepHoldAudio(ACME, `${host.url}?slow`)
    await Promise.all([
      expect(first).rejects.toThrow(),
      host.receive(1).then(async () => {
        await expect(clips.keepHoldAudio(ACME, host.url)).rejects.toMatchObject({
          ...{ code: 'unavailable', message: expect.stringContaining('publish again in a moment') },
        })
        await clips.keepHoldAudio('globex' as TenantId, host.url)
        await clips.close()
      }),
    ])
  })

  it('is fetched again for the next call when it is missing, and the log says why it is not there', async () => {
    host.answer({ status: 500 })
    const { clips } = node()
    expect(await clips.of(tenantTold(ACME), configOf())).toEqual([])
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    expect(JSON.stringify(lines)).toContain('answers 500 and not 200')
    host.answer({ status: 200, body: MUSIC })
    const later = node().clips
    await later.of(tenantTold(ACME), configOf())
    await until(async () => (await later.of(tenantTold(ACME), configOf())).length === 1, { what: 'the sound' })
  })
})
