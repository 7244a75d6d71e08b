import { describe, expect, it } from 'vitest'
import type { ModelPrice } from '../../platform/realtime/price.ts'
import { Call, kinds, planWith } from './call.fixture.ts'
import type { Plan } from './plan.ts'

/** A dollar for a token that is said, and nothing for the others. */
const FREE = { input: 0, cachedInput: 0, output: 0 }
const PRICE: ModelPrice = { text: FREE, audio: { ...FREE, output: 1_000_000 } }
const costs = (usd: number) => ({
  usage: { inputTokens: 1, outputTokens: usd, cachedTokens: 0, audioSeconds: 1 },
})

/** A call whose greeting cost a dollar, as every answer that says nothing else does. */
const greeted = (changes: Partial<Plan> = {}) => Call.greeted({ price: PRICE, ...changes })

/** An answer to a caller, in full. */
function answered(call: Call, nr: number, usd: number): void {
  call.says(`turn_${nr}`, 500)
  call.begins(`resp_${nr}`)
  call.words(`resp_${nr}`, `item_${nr}`, 'It is.')
  call.audio(`resp_${nr}`, `item_${nr}`, 1_000)
  call.model({ type: 'audio_done', responseId: `resp_${nr}`, itemId: `item_${nr}` })
  call.ends(`resp_${nr}`, costs(usd))
  call.wait(1_000)
  call.echoAll()
}

const costOf = (call: Call, itemId: string) => call.turns.find((turn) => turn.itemId === itemId)?.costUsd

describe('what the model is told of the end of a call', () => {
  const told = (call: Call, text: string) => {
    call.model({ type: 'closed', code: '1006', message: 'gone', fault: 'retry' })
    expect(call.all('open_model').at(-1)?.history).toContain(text)
    expect(call.turns.some((turn) => turn.text.includes(text))).toBe(false)
  }

  it('is told to every later session, too, and is no turn of the record', () => {
    const long = Call.greeted({ maxCallMs: 60_000, idle: { afterMs: 300_000, prompts: [], goodbye: '' } })
    long.do({ type: 'fired', timer: 'time_warning' })
    told(long, 'This call must end soon')
    const dear = greeted({ budgetUsd: 10 })
    answered(dear, 1, 7)
    told(dear, 'Four fifths of what this call may cost')
  })
})

describe('what a call costs', () => {
  it('is the sum of its answers, each of which stands with its turn', () => {
    const call = greeted()
    answered(call, 1, 3)
    answered(call, 2, 5)
    expect(call.state.costUsd).toBe(9)
    expect(['item_greeting', 'item_1', 'item_2'].map((id) => costOf(call, id))).toEqual([1, 3, 5])
    expect(call.turns.find(({ role }) => role === 'caller')).not.toHaveProperty('costUsd')
  })

  it('has the cost of an answer that was cut short, also in the turn that was kept before', () => {
    const call = greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'It is a long story that nobody hears to its end.')
    call.audio('resp_1', 'item_1', 10_000)
    call.wait(2_000)
    call.says('turn_2', 500)
    const cut = call.turns.find(({ itemId }) => itemId === 'item_1')
    expect(cut).toMatchObject({ interrupted: true })
    expect(cut).not.toHaveProperty('costUsd')
    call.ends('resp_1', { status: 'cancelled', ...costs(4) })
    expect(call.state.costUsd).toBe(5)
    expect(call.turns.find(({ itemId }) => itemId === 'item_1')).toMatchObject({ interrupted: true, costUsd: 4 })
  })

  it('counts an answer once, however often its end is told', () => {
    const call = greeted()
    answered(call, 1, 3)
    call.ends('resp_1', costs(3))
    expect(call.state.costUsd).toBe(4)
  })

  it('gives what was said and never heard, and is no turn for that, to the turn that follows', () => {
    const call = greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'It is')
    call.says('turn_2', 500)
    call.ends('resp_1', { status: 'cancelled', ...costs(4) })
    answered(call, 3, 2)
    expect(costOf(call, 'item_1')).toBeUndefined()
    expect([call.state.costUsd, costOf(call, 'item_3')]).toEqual([7, 6])
  })

  it('gives what was thought without words to the turn that follows from it', () => {
    const call = greeted()
    call.says('turn_1', 500)
    call.begins('resp_1')
    const tool = { callId: 'call_1', name: 'find_slot', argumentsText: '{}' }
    call.model({ type: 'tool_call', responseId: 'resp_1', itemId: 'tool_1', ...tool })
    call.ends('resp_1', costs(2))
    expect(call.state.costUsd).toBe(3)
    const outcome = { callId: 'call_1', output: '{}', status: 'ok', endsCall: false } as const
    call.do({ type: 'tool_finished', outcome })
    call.begins('resp_2')
    call.words('resp_2', 'item_2', 'At nine.')
    call.audio('resp_2', 'item_2', 1_000)
    call.ends('resp_2', costs(3))
    call.wait(1_000)
    call.echoAll()
    expect(costOf(call, 'item_2')).toBe(5)
  })

  it('is not known where a price is not, and then bounds nothing', () => {
    const call = greeted({ price: null, budgetUsd: 1 })
    answered(call, 1, 3)
    expect(call.state.costUsd).toBeNull()
    expect(costOf(call, 'item_1')).toBeUndefined()
    expect(call.commands('system_message')).toEqual([])
    call.do({ type: 'hand_off', plan: planWith({ price: PRICE }), agentName: 'Billie', summary: '' })
    call.model({ type: 'ready' })
    call.answer('resp_9', 'item_9', 1_000)
    expect(call.state.costUsd).toBeNull()
  })

  it('goes on from what an earlier session of the call has cost', () => {
    const before = { elapsedMs: 60_000, turns: [], greetingMs: 400, interruptions: 0, idBase: 100_000 }
    const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 1 }
    const call = new Call({ price: PRICE, budgetUsd: 10 }, { ...before, usage, costUsd: 7.5 })
    call.model({ type: 'ready' })
    expect(call.commands('system_message')).toEqual([])
    call.answer('resp_1', 'item_1', 1_000)
    expect(call.state.costUsd).toBe(8.5)
    const unpriced = new Call({ price: PRICE }, { ...before, usage, costUsd: null })
    unpriced.model({ type: 'ready' })
    unpriced.answer('resp_1', 'item_1', 100)
    expect(unpriced.state.costUsd).toBeNull()
    expect(call.commands('system_message')).toHaveLength(1)
  })
})

describe('a budget', () => {
  const NEVER_IDLE = { idle: { afterMs: 6_000_000, prompts: [], goodbye: '' } }

  it('is told to the model once at four fifths, and ends the call with a goodbye when it is spent', () => {
    const call = greeted({ budgetUsd: 10, ...NEVER_IDLE })
    answered(call, 1, 6)
    expect(call.commands('system_message')).toEqual([])
    answered(call, 2, 1)
    expect(call.state.costUsd).toBe(8)
    expect(call.commands('system_message')).toMatchObject([{ text: expect.stringContaining('Four fifths') }])
    answered(call, 3, 1)
    expect(call.commands('system_message')).toHaveLength(1)
    expect(call.commands('respond').at(-1)?.instructions).toBeNull()
    answered(call, 4, 1)
    expect(call.commands('respond').at(-1)?.instructions).toContain('goodbye')
    expect(call.all('hang_up')).toEqual([])
    call.answer('resp_bye', 'item_bye', 2_000)
    call.wait(1_900)
    expect(call.all('hang_up')).toEqual([])
    call.wait(100)
    call.echoAll()
    expect(call.all('hang_up')).toHaveLength(1)
    call.wait(3_000)
    expect(call.all('finish')).toEqual([{ type: 'finish', reason: 'max_duration' }])
    // The last words cost too.
    expect(call.state.costUsd).toBe(11)
  })

  it('waits no longer than twenty seconds for a goodbye', () => {
    const call = greeted({ budgetUsd: 3, modelStallMs: 600_000, ...NEVER_IDLE })
    answered(call, 1, 2)
    call.begins('resp_bye')
    for (let nr = 0; nr < 4; nr += 1) {
      expect(call.state.ending).toBeNull()
      call.audio('resp_bye', 'item_bye', 10_000)
      call.wait(5_000)
    }
    expect(call.state.ending).toMatchObject({ reason: 'max_duration', hangUp: true })
  })

  it('leaves a person alone who has the call, and ends it when the agent has it again', () => {
    const call = greeted({ budgetUsd: 5, ...NEVER_IDLE })
    call.says('turn_1', 500)
    call.begins('resp_1')
    call.words('resp_1', 'item_1', 'It is.')
    call.audio('resp_1', 'item_1', 1_000)
    call.do({ type: 'take_over' })
    call.ends('resp_1', { status: 'cancelled', ...costs(9) })
    call.wait(60_000)
    expect([call.state.costUsd, call.state.budget, call.state.ending]).toEqual([10, 'open', null])
    call.do({ type: 'release' })
    call.wait(30_000)
    expect(call.state.budget).toBe('spent')
  })

  it('of the time is told at four fifths, and is over with it', () => {
    const call = Call.greeted({ budgetMs: 100_000, ...NEVER_IDLE })
    call.wait(78_900)
    expect(call.commands('system_message')).toEqual([])
    call.wait(200)
    expect(call.commands('system_message')).toHaveLength(1)
    call.wait(20_000)
    expect(call.commands('respond').at(-1)?.instructions).toContain('time for this call is over')
  })

  it('of the time is nothing to a call that may not last as long', () => {
    const call = Call.greeted({ budgetMs: 1_000_000, maxCallMs: 100_000, ...NEVER_IDLE })
    call.wait(88_900)
    expect(call.commands('system_message')).toEqual([])
    call.wait(200)
    expect(call.commands('system_message')).toHaveLength(1)
  })

  it('of the time leaves a person alone too, and is over when the agent has the call again, or with the longest call', () => {
    const call = Call.greeted({ budgetMs: 100_000, maxCallMs: 300_000, ...NEVER_IDLE })
    call.do({ type: 'take_over' })
    call.wait(150_000)
    expect([call.state.ending, call.state.takeover]).toEqual([null, { phase: 'on' }])
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    expect(call.state.answers.queue.at(-1)).toMatchObject({
      instructions: expect.stringContaining('time for this call is over'),
      thenEnd: 'max_duration',
    })
    const kept = Call.greeted({ budgetMs: 100_000, maxCallMs: 300_000, ...NEVER_IDLE })
    kept.do({ type: 'take_over' })
    kept.wait(300_000)
    expect(kept.state.takeover).toBeNull()
  })
})

describe('a call that somebody takes while its goodbye is said, because its budget is spent', () => {
  const NEVER_IDLE = { idle: { afterMs: 6_000_000, prompts: [], goodbye: '' } }

  /** Half of the goodbye was heard. */
  function inGoodbye(changes: Partial<Plan> = {}): Call {
    const call = greeted({ budgetUsd: 3, ...NEVER_IDLE, ...changes })
    answered(call, 1, 2)
    call.begins('resp_bye')
    call.words('resp_bye', 'item_bye', 'I am sorry, goodbye.')
    call.audio('resp_bye', 'item_bye', 2_000)
    call.wait(1_000)
    return call
  }

  /** The agent comes back, and then says goodbye. */
  function comesBack(call: Call): void {
    call.answer('resp_back', 'item_back', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect([call.state.ending, call.commands('respond').at(-1)?.instructions]).toEqual([
      null,
      expect.stringContaining('goodbye'),
    ])
    call.answer('resp_bye_2', 'item_bye_2', 1_000)
    call.wait(1_000)
    call.echoAll()
    expect([call.all('hang_up').length, call.state.ending?.reason]).toEqual([1, 'max_duration'])
  }

  it("is the person's for as long as they like, and is told goodbye by the agent after that", () => {
    const call = inGoodbye()
    call.do({ type: 'take_over' })
    call.ends('resp_bye', { status: 'cancelled' })
    call.wait(120_000)
    expect([call.state.ending, call.state.takeover]).toEqual([null, { phase: 'on' }])
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    comesBack(call)
  })

  it('is told goodbye in full where it is given back before the model has left off', () => {
    const call = inGoodbye()
    call.do({ type: 'take_over' })
    call.do({ type: 'release' })
    call.do({ type: 'person_written' })
    call.ends('resp_bye', { status: 'cancelled' })
    expect(call.state.ending).toBeNull()
    comesBack(call)
  })

  it.each([true, false])(
    "is put through, and told goodbye when nobody takes it, by the agent's own wish: %s",
    (isAgents) => {
      const call = inGoodbye()
      call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: true, isAgents })
      call.ends('resp_bye', { status: isAgents ? 'completed' : 'cancelled' })
      call.wait(1_000)
      call.echoAll()
      expect([call.all('begin_transfer').length, call.state.ending]).toEqual([1, null])
      call.do({ type: 'transfer_ringing' })
      call.wait(30_000)
      expect(call.state.ending).toBeNull()
      call.do({ type: 'transfer_failed', why: 'no_answer' })
      comesBack(call)
    },
  )

  it('ends all the same when the longest call is over', () => {
    const call = inGoodbye({ maxCallMs: 60_000 })
    call.do({ type: 'take_over' })
    call.ends('resp_bye', { status: 'cancelled' })
    call.wait(60_000)
    expect(call.state.takeover).toBeNull()
    call.answer('resp_end', 'item_end', 1_000)
    expect(call.state.ending?.reason).toBe('max_duration')
  })

  it('is over when somebody else has it: nothing follows the end', () => {
    const ends: ((call: Call) => void)[] = [
      (call) => {
        call.do({ type: 'take_over' })
        call.ends('resp_bye', { status: 'cancelled' })
        call.do({ type: 'taken' })
      },
      (call) => {
        call.do({ type: 'transfer', id: 't1', target: '+12025550103', isWarm: true, isAgents: false })
        call.ends('resp_bye', { status: 'cancelled' })
        call.do({ type: 'transfer_ringing' })
        call.do({ type: 'transferred' })
      },
    ]
    for (const end of ends) {
      const call = inGoodbye()
      end(call)
      const at = call.effects.findIndex(({ type }) => type === 'finish')
      const begun = kinds(call.effects.slice(at)).filter((kind) => kind === 'arm' || kind === 'respond')
      expect([call.state.phase, begun]).toEqual(['ended', []])
    }
  })
})
