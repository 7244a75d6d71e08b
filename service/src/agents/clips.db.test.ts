import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { type SpeechServer, startSpeechServer } from '../../test/harness/speech-server.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { until } from '../../test/harness/wait.ts'
import type { TenantId } from '../kernel/ids.ts'
import { makeLog } from '../platform/log.ts'
import { openaiSpeech } from '../platform/speech/openai.ts'
import type { Speech } from '../platform/speech/port.ts'
import type { StreamedSpeech } from '../platform/speech/streamed-port.ts'
import { wholeSpeech } from '../platform/speech/whole-speech.ts'
import { tenantTold } from '../records/calls.fixture.ts'
import { agentConfigDefaults } from '../tenancy/agent-config-defaults.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import { deleteOldClips, insertClip, touchClips } from './clip-store.ts'
import { type Clips, makeClips } from './clips.ts'

const ACME = 'acme' as TenantId
const GREETING = agentConfigDefaults({ greeting: 'Hello, this is Acme.' })
const OTHER = agentConfigDefaults({ greeting: 'Good morning.' })
const DISCLOSURE = 'You are talking to a machine.'

const test = useDatabase()
let clock: TestClock
let provider: SpeechServer
let lines: { msg: string }[]
let made: Clips[]

beforeAll(async () => {
  provider = await startSpeechServer()
})
afterAll(() => provider.close())
beforeEach(async () => {
  clock = new TestClock()
  lines = []
  made = []
  provider.asked.length = 0
  provider.answer({ ms: 1_000 })
  await makeTenant(test.db, ACME)
})
afterEach(async () => {
  await Promise.all(made.map((clips) => clips.close()))
  if (clock.pendingTimers > 0) throw new Error('whoever makes clips has left a timer')
})

/** The clips as one process has them, which remembers nothing of the others. */
function clips({
  isRehearsal = false,
  secondSpeech,
}: {
  isRehearsal?: boolean
  secondSpeech?: (tenant: TenantRuntime) => Speech | null
} = {}): Clips {
  const speech = openaiSpeech({ baseUrl: provider.baseUrl, apiKey: 'sk-key-of-the-tests' })
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as { msg: string }) }
  const log = makeLog({ level: 'debug', secrets: [], destination })
  const tenants = { get: async (id: TenantId) => tenantTold(id) }
  const fetchHoldAudio = async () => Buffer.alloc(0)
  const one = makeClips({
    ...{ db: test.db, clock, log, speech, fetchHoldAudio, tenants, isRehearsal },
    ...(secondSpeech && { secondSpeech }),
  })
  made.push(one)
  return one
}

const tenant = (facts: Partial<TenantRuntime> = {}): TenantRuntime => ({ ...tenantTold(ACME), ...facts })
const disclosing = () => tenant({ compliance: { ...tenant().compliance, ai_disclosure: DISCLOSURE } })
const rows = () => test.db.selectFrom('clips').selectAll().execute()
const isKept = (count: number) =>
  until(
    async () => (await rows()).length === count && lines.filter(({ msg }) => msg === 'a clip was made').length >= count,
    {
      what: `${count} clips`,
    },
  )

/** What is there, once it is. */
async function settled(of: Clips, ofTenant = tenant(), config = GREETING) {
  await of.of(ofTenant, config)
  await until(async () => (await of.of(ofTenant, config)).length > 0, { what: 'the clips' })
  return of.of(ofTenant, config)
}

/** What was asked for by the time that something else is there, which was asked for last: what would come later has come. */
async function askedFor(of: Clips): Promise<string[]> {
  await settled(of, tenant(), OTHER)
  return provider.asked.map(({ input }) => input)
}

/** A second voice that says half a second of nothing else than a tone, unless it fails. */
function secondVoice(asked: string[], fault?: 'lost'): StreamedSpeech {
  return {
    name: 'voices',
    open({ voiceId, modelId }, listener) {
      let text = `${voiceId} ${modelId}: `
      return {
        say(more) {
          text += more
        },
        flush() {},
        end() {
          asked.push(text)
          if (fault) return listener.event({ type: 'failed', why: fault, message: 'no' })
          listener.audio(Buffer.from(Buffer.from(Array.from({ length: 4_000 }, (_, at) => at % 64)).toString('base64')))
          listener.event({ type: 'done' })
        },
        close() {},
      }
    },
  }
}

describe('clips of a tenant that asks for a second voice', () => {
  const spoken = tenant({ audio_output: { provider: 'secondary', voice_id: 'v1', model_id: 'm1' } })

  it('are made with that voice, and are other clips than those of the model', async () => {
    const asked: string[] = []
    const second = wholeSpeech(secondVoice(asked), { voiceId: 'v1', modelId: 'm1' })
    const one = clips({ secondSpeech: ({ audio_output }) => (audio_output.provider === 'secondary' ? second : null) })
    const [clip] = await settled(one, spoken)
    expect(asked).toEqual(['v1 m1: Hello, this is Acme.'])
    expect(clip?.ms).toBeGreaterThan(400)
    await settled(one)
    expect(provider.asked).toHaveLength(1)
    await isKept(2)
  })

  it('are not made by the model when the second voice fails: its calls have it say the words', async () => {
    const asked: string[] = []
    const second = wholeSpeech(secondVoice(asked, 'lost'), { voiceId: 'v1', modelId: 'm1' })
    const one = clips({ secondSpeech: () => second })
    expect(await one.of(spoken, GREETING)).toEqual([])
    const isTold = () => lines.some(({ msg }) => msg === 'a clip could not be made')
    await until(isTold, { what: 'the failure to be told' })
    expect([asked.length, provider.asked.length]).toEqual([1, 0])
  })
})

describe('clips', () => {
  it('are made once, by the words, the voice and its speed, and kept for every process', async () => {
    clips().prepare(ACME, GREETING)
    await isKept(1)
    expect(provider.asked).toEqual([
      {
        ...{ authorization: 'Bearer sk-key-of-the-tests', model: 'gpt-4o-mini-tts', input: 'Hello, this is Acme.' },
        ...{ voice: 'marin', speed: 1, response_format: 'pcm' },
      },
    ])
    const [clip] = await clips().of(tenant(), GREETING)
    expect(clip).toMatchObject({ kind: 'greeting', words: 'Hello, this is Acme.', text: 'Hello, this is Acme.' })
    const [row] = await rows()
    const audio = Buffer.concat((clip?.pieces ?? []).map((piece) => Buffer.from(piece.toString(), 'base64')))
    expect(audio.equals(Buffer.from(row?.audio ?? []))).toBe(true)
    expect(clip?.ms).toBe(audio.length / 8)
    expect(clip?.ms).toBeGreaterThan(990)
    expect(provider.asked).toHaveLength(1)
  })

  it('are made anew for other words, another voice, another speed', async () => {
    const one = clips()
    await settled(one)
    await settled(one, tenant({ voice: 'cedar' }))
    await settled(one, tenant(), agentConfigDefaults({ greeting: 'Hello, this is Acme.', voice: 'sage' }))
    await settled(one, tenant(), agentConfigDefaults({ greeting: 'Good morning.' }))
    await settled(one, tenant(), agentConfigDefaults({ greeting: 'Good morning.', speech: { speed: 1.2 } }))
    expect(provider.asked.map(({ input, voice, speed }) => [input, voice, speed])).toEqual([
      ['Hello, this is Acme.', 'marin', 1],
      ['Hello, this is Acme.', 'cedar', 1],
      ['Hello, this is Acme.', 'sage', 1],
      ['Good morning.', 'marin', 1],
      ['Good morning.', 'marin', 1.2],
    ])
  })

  it('begin with what the law wants said, and never without it', async () => {
    const one = clips()
    await settled(one)
    provider.answer({ status: 500 })
    expect(await one.of(disclosing(), GREETING)).toEqual([])
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    expect(await one.of(disclosing(), GREETING)).toEqual([])
    provider.answer({ ms: 500 })
    await clock.advance(30_000)
    const there = await settled(one, disclosing())
    expect(there.map(({ kind, text }) => [kind, text])).toEqual([
      ['disclosure', DISCLOSURE],
      ['greeting', 'Hello, this is Acme.'],
    ])
    expect((await one.of(disclosing(), agentConfigDefaults({}))).map(({ kind }) => kind)).toEqual(['disclosure'])
    expect(await one.of(tenant(), agentConfigDefaults({}))).toEqual([])
  })

  it('that nobody will make, as they are refused, cost one attempt a day', async () => {
    const one = clips()
    provider.answer({ status: 400 })
    one.prepare(ACME, GREETING)
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    provider.answer({ ms: 500 })
    await clock.advance(12 * 3_600_000)
    expect(await one.of(tenant(), GREETING)).toEqual([])
    expect(await askedFor(one)).toEqual(['Hello, this is Acme.', 'Good morning.'])
    await clock.advance(12 * 3_600_000)
    expect(await settled(one)).toHaveLength(1)
  })

  it('that were refused are asked for again when they are published again, whatever was mended meanwhile', async () => {
    const one = clips()
    provider.answer({ status: 400 })
    one.prepare(ACME, GREETING)
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    provider.answer({ ms: 500 })
    one.prepare(ACME, GREETING)
    await until(() => lines.some(({ msg }) => msg === 'a clip was made'), { what: 'the clip' })
    expect(await one.of(tenant(), GREETING)).toHaveLength(1)
  })

  it('that could not be made are asked for again by a later call, and not by each', async () => {
    const one = clips()
    provider.answer({ status: 429 })
    one.prepare(ACME, GREETING)
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    for (let call = 0; call < 5; call += 1) expect(await one.of(tenant(), GREETING)).toEqual([])
    provider.answer({ ms: 1_000 })
    expect(await askedFor(one)).toEqual(['Hello, this is Acme.', 'Good morning.'])
    await clock.advance(30_000)
    expect(await settled(one)).toHaveLength(1)
    expect(provider.asked).toHaveLength(3)
  })

  it('are given up when the provider says nothing, or speaks without end', async () => {
    const one = clips()
    provider.answer('nothing')
    one.prepare(ACME, GREETING)
    await until(() => provider.asked.length === 1, { what: 'the request' })
    await clock.advance(30_000)
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    provider.answer({ ms: 61_000 })
    await clock.advance(30_000)
    expect(await one.of(tenant(), GREETING)).toEqual([])
    await until(() => lines.filter(({ msg }) => msg === 'a clip could not be made').length === 2, { what: 'the other' })
    expect(await rows()).toEqual([])
  })

  it('F51: are not kept when their speech breaks off in the middle of a word: the model says it, and they are made later', async () => {
    const one = clips()
    provider.answer({ ms: 1_000, breaks: true })
    one.prepare(ACME, GREETING)
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
    expect([await one.of(tenant(), GREETING), await rows()]).toEqual([[], []])
    provider.answer({ ms: 1_000 })
    // Nor is it asked again for each call meanwhile.
    expect(await askedFor(one)).toEqual(['Hello, this is Acme.', 'Good morning.'])
    await clock.advance(30_000)
    expect(await settled(one)).toHaveLength(1)
    expect(provider.asked).toHaveLength(3)
  })

  it('F52: whose first sound takes four seconds hold up no call, and are there for the next', async () => {
    const one = clips()
    provider.answer('nothing')
    expect(await one.of(tenant(), GREETING)).toEqual([])
    await until(() => provider.asked.length === 1, { what: 'the request' })
    await clock.advance(4_000)
    provider.late({ ms: 1_000 })
    await isKept(1)
    expect(await one.of(tenant(), GREETING)).toHaveLength(1)
  })

  it('are made although the database tells late that there are none, which a call does not wait for', async () => {
    const [called, published] = [clips(), clips()]
    let had: unknown
    await test.db.transaction().execute(async (tx) => {
      await sql`lock table clips`.execute(tx)
      published.prepare(ACME, agentConfigDefaults({ greeting: 'Hello, this is another.' }))
      const having = called.of(tenant(), GREETING)
      await clock.advance(250)
      had = await having
    })
    expect(had).toEqual([])
    await isKept(2)
  })

  it('are not waited for when the service stops, and not told as faults', async () => {
    provider.answer('nothing')
    const one = clips()
    one.prepare(ACME, GREETING)
    await until(() => provider.asked.length === 1, { what: 'the request' })
    await one.close()
    expect(await rows()).toEqual([])
    expect(lines).toEqual([])
  })

  it('bridge waits, too, where the agent has words for that', async () => {
    const config = agentConfigDefaults({ greeting: 'Hello.', fillers: { phrases: ['One moment.', 'Nearly there.'] } })
    const one = clips()
    one.prepare(ACME, config)
    await isKept(3)
    const there = await one.of(tenant(), config)
    expect(there.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'greeting: Hello.',
      'filler: One moment.',
      'filler: Nearly there.',
    ])
    provider.answer({ status: 500 })
    const others = await one.of(disclosing(), config)
    expect(others.map(({ kind }) => kind)).toEqual(['filler', 'filler'])
    await until(() => lines.some(({ msg }) => msg === 'a clip could not be made'), { what: 'the failure' })
  })

  it.each([
    ['de', ['apology: Es tut mir leid, wir haben technische Schwierigkeiten.', 'filler: Einen Moment, bitte.']],
    ['pt-BR', ['apology: Pedimos desculpa, estamos com problemas técnicos.', 'filler: Um momento, por favor.']],
    ['EN', ['apology: I am sorry, we are having technical difficulties.', 'filler: One moment, please.']],
    ['ja', []],
    [undefined, []],
  ])(
    'bridge waits of an agent without words for that, and apologise, in the language %s where we have some',
    async (language, there) => {
      const config = agentConfigDefaults({ greeting: 'Hello.', ...(language && { speech: { language } }) })
      const one = clips()
      one.prepare(ACME, config)
      await isKept(1 + there.length)
      const made = (await one.of(tenant(), config)).map(({ kind, text }) => `${kind}: ${text}`)
      expect(made).toEqual(['greeting: Hello.', ...there])
    },
  )

  it('say in a rehearsal that it is one', async () => {
    const [clip] = await settled(clips({ isRehearsal: true }))
    expect(clip).toMatchObject({
      words: 'Hello, this is Acme.',
      text: expect.stringMatching(/^Hello.* This is a rehearsal: /),
    })
    expect(provider.asked[0]?.input).toBe(clip?.text)
  })

  it("are a tenant's own, and go with it", async () => {
    await settled(clips())
    const other = await makeTenant(test.db, 'other')
    const others = clips()
    expect(await others.of({ ...tenant(), tenant_id: other }, GREETING)).toEqual([])
    await isKept(2)
    await test.db.deleteFrom('tenants').where('tenant_id', '=', ACME).execute()
    expect((await rows()).map(({ tenant_id }) => tenant_id)).toEqual([other])
    await insertClip(test.db, ACME, { key: 'late', audio: Buffer.from([1]), at: new Date(0) })
    expect(await rows()).toHaveLength(1)
  })

  it('are made one after the other where an agent says more at once than are made at a time', async () => {
    const phrases = Array.from({ length: 20 }, (_, index) => `One moment, ${index}.`)
    clips().prepare(ACME, agentConfigDefaults({ greeting: 'Hello.', fillers: { phrases } }))
    await isKept(21)
    expect(new Set(provider.asked.map(({ input }) => input)).size).toBe(21)
  })

  it('are not kept for ever: those that no call has used for longest go first', async () => {
    const one = clips()
    await settled(one)
    await isKept(1)
    const [used] = await rows()
    if (!used) throw new Error('nothing was made')
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries())
      await insertClip(test.db, ACME, { key, audio: Buffer.from([index]), at: new Date(clock.now() + index + 1) })
    const day = { at: new Date(clock.now() + 90_000_000), since: new Date(clock.now() + 2) }
    await touchClips(test.db, ACME, { ...day, keys: ['a'] })
    const kept = async () => (await rows()).map(({ clip_key }) => clip_key).sort()
    await deleteOldClips(test.db, ACME, 4)
    expect(await kept()).toEqual(['a', 'b', 'c', 'd'].sort())
    await deleteOldClips(test.db, ACME, 2)
    expect(await kept()).toEqual(['a', 'd'])
  })

  it('are known to be used, which is written down once a day and not by each call', async () => {
    const one = clips()
    await settled(one)
    await isKept(1)
    const madeAt = clock.now()
    const usedAt = async () => (await rows())[0]?.used_at?.getTime() ?? null
    await clock.advance(23 * 3_600_000)
    await one.of(tenant(), GREETING)
    await clock.advance(2 * 3_600_000)
    for (const each of [one, clips()]) await each.of(tenant(), GREETING)
    await until(async () => (await usedAt()) !== null, { what: 'the use' })
    expect(await usedAt()).toBe(madeAt + 25 * 3_600_000)
    await clock.advance(3_600_000)
    for (const each of [one, clips()]) await each.of(tenant(), GREETING)
    await Promise.all(made.map((each) => each.close()))
    expect(await usedAt()).toBe(madeAt + 25 * 3_600_000)
  })
})
