import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentAudio, callerFrame } from '../../test/virtual/audio.ts'
import { World } from '../../test/virtual/world.ts'
import { AppError } from '../kernel/errors.ts'
import type { ModelEvent, ModelListener, ModelUsage } from '../platform/realtime/port.ts'
import type { Line } from './lines/line.ts'
import { DETACHED_MS } from './session/detached.ts'

const USAGE: ModelUsage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }
const END_MS = 3_000
/** How long a call may be without a stream before the next one comes. */
const MAX_AWAY_MS = 2_000

/** A call whose model does and says what the test makes it, well behaved or not. */
class Puppet {
  readonly world: World
  #listener: ModelListener | null = null
  #epoch = 0
  #open = 0
  readonly cancelled = new Set<number>()
  readonly #silenced = new Set<number>()
  #checked = 0
  #line: Line | null = null
  #wasTaken = false

  constructor() {
    this.world = new World({
      openModel: (listener) => {
        this.#listener = listener
        this.#epoch += 1
        this.#open += 1
        return {
          append: () => {},
          bufferedBytes: () => 0,
          send: (command) => {
            if (command.type === 'cancel') this.cancelled.add(this.#numberOf(command.responseId))
          },
          close: () => {
            this.#open -= 1
          },
        }
      },
    })
    this.world.begin()
  }

  get openSessions(): number {
    return this.#open
  }

  says(event: ModelEvent): void {
    this.#listener?.event(event)
  }

  /** 200 ms of an answer, in the voice of its number. */
  sounds(responseId: string): void {
    this.#listener?.audio(responseId, `item_${responseId}`, agentAudio(this.#numberOf(responseId), 200))
  }

  loses(): void {
    this.says({ type: 'closed', code: '1006', message: '', fault: 'retry' })
  }

  /** The carrier's stream is gone, and another one comes: what could be heard until then is silenced by that. */
  changesStream(afterMs: number): void {
    if (this.world.session.isAttachable) for (const answer of this.audible()) this.#silenced.add(answer)
    this.world.changeStream(afterMs)
  }

  /** Somebody takes the call over, if they can have it, or leaves it. */
  takesOver(): void {
    try {
      this.#line = this.world.session.lines.takeOver({ audio: () => {}, over: () => {} }, null)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }

  leaves(how: 'released' | 'lost'): void {
    this.#line?.close(how)
  }

  done(responseId: string): void {
    const over = { status: 'completed', errorCode: null, fault: null, usage: USAGE } as const
    this.says({ type: 'response_done', responseId, ...over })
  }

  #numberOf(responseId: string): number {
    return this.#epoch * 8 + Number(responseId.slice(1))
  }

  /** Answers that can still be heard, or are being made: those that a `clear` now silences. */
  audible(): number[] {
    const { playback, answers } = this.world.session.state
    const ids = [
      ...playback.utterances.map((u) => u.responseId),
      ...(answers.active ? [answers.active.responseId] : []),
    ]
    return ids.map((id) => {
      const [epoch, bare] = id.includes('·') ? id.split('·') : ['1', id]
      return Number(epoch) * 8 + Number(bare?.slice(1))
    })
  }

  /** No byte of what was silenced follows what silenced it. */
  check(audibleBefore: readonly number[]): void {
    const sent = this.world.carriers.flatMap((carrier) => carrier.sent)
    const isTaken = this.world.session.state.takeover !== null
    if (isTaken && this.#wasTaken && sent.slice(this.#checked).some(({ type }) => type === 'media'))
      throw new Error('the agent was heard while somebody else had the call')
    this.#wasTaken = isTaken
    for (const one of sent.slice(this.#checked)) {
      if (one.type === 'clear') for (const answer of audibleBefore) this.#silenced.add(answer)
      if (one.type === 'media' && this.#silenced.has(one.answer))
        throw new Error(`heard after it was silenced: ${one.answer}`)
    }
    this.#checked = sent.length
    for (const answer of this.cancelled) this.#silenced.add(answer)
  }
}

const ids = fc.constantFrom('r0', 'r1', 'r2', 'r3')
const turns = fc.constantFrom('t0', 't1', 't2')

const events = fc.oneof(
  ids.map((responseId): ModelEvent => ({ type: 'response_started', responseId })),
  ids.map((responseId): ModelEvent => ({ type: 'audio_done', responseId, itemId: `item_${responseId}` })),
  ids.map((id): ModelEvent => ({ type: 'item_added', itemId: `item_${id}`, previousItemId: null, role: 'agent' })),
  ids.map(
    (id): ModelEvent => ({ type: 'agent_transcript', responseId: id, itemId: `item_${id}`, text: 'a b', final: true }),
  ),
  ids.map((id): ModelEvent => ({ type: 'agent_text', responseId: id, itemId: `item_${id}`, text: 'a', final: true })),
  ids.map(
    (id): ModelEvent => ({ type: 'tool_call', responseId: id, itemId: 'i', callId: id, name: 'x', argumentsText: '' }),
  ),
  turns.map((itemId): ModelEvent => ({ type: 'speech_started', itemId, audioStartMs: 0 })),
  turns.map((itemId): ModelEvent => ({ type: 'speech_stopped', itemId, audioEndMs: 0 })),
  turns.map((itemId): ModelEvent => ({ type: 'committed', itemId, previousItemId: null })),
  turns.map((itemId): ModelEvent => ({ type: 'caller_transcript', itemId, text: 'no' })),
  fc.constant<ModelEvent>({ type: 'ready' }),
  fc.constant<ModelEvent>({ type: 'rate_limited', resetMs: 500 }),
  fc
    .nat(9)
    .map((n): ModelEvent => ({ type: 'refused', requestId: `ask-1-${n}`, code: 'x', message: '', fault: 'benign' })),
)

type Move = (puppet: Puppet) => void | Promise<void>

const moves = fc.oneof(
  {
    weight: 8,
    arbitrary: events.map(
      (event): Move =>
        (puppet) =>
          puppet.says(event),
    ),
  },
  {
    weight: 6,
    arbitrary: ids.map(
      (id): Move =>
        (puppet) =>
          puppet.sounds(id),
    ),
  },
  {
    weight: 3,
    arbitrary: ids.map(
      (id): Move =>
        (puppet) =>
          puppet.done(id),
    ),
  },
  { weight: 3, arbitrary: fc.constant<Move>(loud) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('1', '#').map(
      (digit): Move =>
        (p) =>
          p.world.session.dispatch({ type: 'dtmf', digit }),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Move>((puppet) => puppet.world.session.dispatch({ type: 'say', text: 'x' })) },
  { weight: 1, arbitrary: fc.constant<Move>((puppet) => puppet.loses()) },
  { weight: 2, arbitrary: fc.constant<Move>((puppet) => puppet.takesOver()) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('released', 'lost').map(
      (how): Move =>
        (puppet) =>
          puppet.leaves(how),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(MAX_AWAY_MS).map(
      (afterMs): Move =>
        (puppet) =>
          puppet.changesStream(afterMs),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.nat(1_500).map(
      (ms): Move =>
        (puppet) =>
          puppet.world.clock.advance(ms),
    ),
  },
)

/** 300 ms of a caller who speaks up. */
async function loud({ world }: Puppet): Promise<void> {
  for (let n = 0; n < 15; n++) world.session.fromCaller(callerFrame(1))
}

describe('A session', () => {
  it('sends no byte of an answer that was silenced, ends once, and leaves nothing, whatever happens in whatever order', async () => {
    const calls = fc.array(moves, { maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(calls, fc.constantFrom('hung_up', 'stream_stopped', 'stream_lost'), async (all, type) => {
        const puppet = new Puppet()
        const { world } = puppet
        puppet.says({ type: 'ready' })
        for (const move of all) {
          const before = puppet.audible()
          await move(puppet)
          puppet.check(before)
        }
        // One that is on its way would bring the call back, and nobody would end it then.
        if (type === 'stream_lost') await world.clock.advance(MAX_AWAY_MS)
        world.session.dispatch({ type })
        await world.clock.advance(END_MS + (type === 'stream_lost' ? DETACHED_MS + END_MS : 0))
        expect(world.errors).toEqual([])
        expect(world.ends).toHaveLength(1)
        expect([world.sessionClock.pendingTimers, puppet.openSessions]).toEqual([0, 0])
        expect(world.carriers.every(({ closes }) => closes === 1)).toBe(true)
        expect(world.transcript.every(({ heardMs, sentMs }) => (heardMs ?? 0) <= (sentMs ?? 0))).toBe(true)
        expect(Math.max(world.hangUps, world.apologies)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 1_500 },
    )
  }, 120_000)

  it('does all that follows from an event before it looks at the next, also when one makes the other', async () => {
    const seen: string[] = []
    const world = new World({
      openModel: (listener) => ({
        append: () => {},
        bufferedBytes: () => 0,
        send(command) {
          seen.push(command.type)
          if (command.type === 'respond') listener.event({ type: 'response_started', responseId: 'r1' })
          seen.push(`${command.type} done`)
        },
        close: () => {},
      }),
    })
    world.begin()
    world.session.dispatch({ type: 'model', epoch: 1, event: { type: 'ready' } })
    expect(seen).toEqual(['respond', 'respond done'])
    expect(world.session.state.answers.active?.responseId).toBe('r1')
  })

  it('goes on when something that it was given throws, and tells of it', async () => {
    const world = new World({
      openModel() {
        throw new Error('no socket left')
      },
    })
    world.begin()
    await world.run(60_000)
    expect(world.errors.length).toBeGreaterThan(0)
    expect(world.ends).toEqual(['model_lost'])
    expect(world.sessionClock.pendingTimers).toBe(0)
  })
})

describe('A tool that breaks', () => {
  it('is told to the model as a tool that failed', async () => {
    const world = new World({
      script: [{ cue: { afterSilenceMs: 500 }, say: 'Yes, book it please.', forMs: 1_000 }],
      runTool: () => Promise.reject(new Error('a bug')),
    })
    world.begin()
    expect(await world.until(() => world.errors.length > 0)).toBe(true)
    expect(
      await world.until(() => world.model.sessions[0]?.commands.some(({ type }) => type === 'tool_result') ?? false),
    ).toBe(true)
    expect(world.session.state.runningTools).toEqual([])
  })
})
