import { readFaultPlans } from '../model/faults.ts'
import { scriptShape } from '../model/script.ts'
import {
  anything,
  boolean,
  decimal,
  integer,
  list,
  object,
  oneOf,
  record,
  type Shape,
  type Shaped,
  text,
} from '../model/shape.ts'
import { carrierFaults } from './carrier-fault-shape.ts'

const MS_MAX = 7_200_000
const ms = integer(0, MS_MAX)

const step = object(
  {},
  {
    say: text(),
    press: text(32),
    /** A steady tone: the beep of a mailbox, what a fax machine answers with. */
    tone: object({ hz: integer(50, 3_900), ms: integer(20, 60_000) }, {}),
    hang_up: boolean,
    wait: boolean,
    /** When: at most one of these; 700 ms after the agent unless told. */
    after_agent_ms: ms,
    over_agent_ms: ms,
    at_ms: ms,
    after_ms: ms,
    voice: oneOf(['slt', 'rms']),
  },
)

const callerFields = {
  steps: list(step),
  voice: oneOf(['slt', 'rms']),
  patience_ms: ms,
  stays: boolean,
  answers: oneOf(['answers', 'busy', 'no-answer', 'failed']),
  ring_ms: ms,
  machine: object({ greeting: text() }, { beep: boolean }),
}
/** A party at a telephone, as a scenario writes it. */
export const callerShape = object({}, callerFields)

/** A number, or a range whose ends are included. */
const range: Shape<number | { min?: number; max?: number }> = (value, path) => {
  const bound = decimal(-1e9, 1e9)
  return typeof value === 'number' ? bound(value, path) : object({}, { min: bound, max: bound })(value, path)
}

const tool = object({ name: text() }, { arguments: record(anything), output: text() })

const expect = object(
  {},
  {
    status: oneOf(['completed', 'busy', 'failed', 'no-answer', 'canceled']),
    ended_by: oneOf(['caller', 'gave-up', 'document', 'rest', 'time-limit', 'other-party', 'not-answered', 'carrier']),
    /** Phrases that the caller heard, in this order. */
    heard: list(text()),
    not_heard: list(text()),
    /** Phrases that the model was given to hear, in this order. */
    understood: list(text()),
    first_word_ms: range,
    reply_gap_ms: range,
    longest_silence_ms: range,
    duration_ms: range,
    agent_voiced_share: range,
    caller_voiced_share: range,
    clears: range,
    clicks: range,
    repeats: range,
    tools: list(tool),
    model_sessions: range,
    truncations: range,
    /** Codes of refusals by the model that are part of the scenario; any other is a failure. */
    model_errors: list(text()),
    /** Numbers of the carrier's debugger that are part of the scenario; any other is a failure. */
    notifications: list(integer(10_000, 99_999)),
    /** Given to whoever embeds the simulator, who knows what should be stored. */
    stored: anything,
  },
)

/** A scenario, as its file has it. */
export const scenarioShape = object(
  { name: text(200), caller: callerShape },
  {
    description: text(),
    call: object(
      {},
      { direction: oneOf(['inbound', 'outbound']), from: text(), to: text(), max_seconds: integer(1, 7_200) },
    ),
    /** Who answers at other numbers, for transfers. */
    parties: list(object({ number: text() }, callerFields)),
    agent: scriptShape,
    faults: object({}, { ...carrierFaults, model: readFaultPlans }),
    expect,
  },
)

/** One simulated call and what is to be true of it. */
export type Scenario = Shaped<typeof scenarioShape>
/** What a scenario expects. */
export type Expectations = Shaped<typeof expect>
/** A caller as a scenario writes it. */
export type WrittenCaller = Shaped<typeof callerShape>
/** One step of such a caller. */
export type WrittenStep = Shaped<typeof step>
/** A number or a range. */
export type Range = Shaped<typeof range>
