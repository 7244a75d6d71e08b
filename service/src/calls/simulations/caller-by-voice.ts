import type { Clock } from '../../kernel/clock.ts'
import type { SimulatedTurn } from '../../records/simulations/run-store.ts'
import type { CallerStep, EndedBy, Scenario } from '../../records/simulations/scenario.ts'
import { STAGES } from '../../voice/session/silence.ts'
import type { SessionState } from '../../voice/session/state.ts'
import type { AskModel } from './agent-turn.ts'
import { MAX_PLAYED_TURNS } from './converse.ts'
import { Line } from './line.ts'
import { playCaller } from './played-caller.ts'
import type { Telephone } from './telephone.ts'

/** What a caller needs to talk with an agent over the telephone. */
export type SpokenCall = {
  clock: Clock
  telephone: Telephone
  state(): SessionState
  /** What was said so far, as it is written down. */
  turns(): SimulatedTurn[]
  /** Whether the session is over, whoever has ended it. */
  isOver(): boolean
  /** Whether the agent has put the call through. */
  isTransferred(): boolean
  /** Whether the call has been long enough. */
  isTooLong(): boolean
  /** Waits a moment. @throws CallLost, and why the call is to end early. */
  moment(): Promise<void>
  /** The words as they sound. @throws SpeechFault */
  speak(text: string): Promise<Buffer>
  ask: AskModel
  /** Plays callers; null: the model's own default. */
  callerModel: string | null
}

/** Somebody who listens takes so long a silence for the end of what the agent had to say. */
const QUIET_MS = 700

/**
 * Plays a caller until the call is over, or they hang up: they listen until the agent has come to the end of a turn, and do then what
 * comes next.
 *
 * @returns who has ended it; null where the session has, and knows by whom.
 */
export async function callByVoice(call: SpokenCall, { caller }: Scenario): Promise<EndedBy | null> {
  const ended = await talk(call, caller)
  if (call.isOver()) return call.isTransferred() ? 'transfer' : ended
  call.telephone.hangUp()
  return ended
}

function talk(call: SpokenCall, caller: Scenario['caller']): Promise<EndedBy | null> {
  const { persona, goal = null, max_turns: maxTurns = MAX_PLAYED_TURNS, steps = [], stays = false } = caller
  if (persona !== undefined) return asPlayed(call, { persona, goal, maxTurns })
  const silences = Array.from({ length: stays ? STAGES : 0 }, (): CallerStep => ({ silence: true }))
  return bySteps(call, [...steps, ...silences])
}

async function bySteps(call: SpokenCall, steps: CallerStep[]): Promise<EndedBy | null> {
  let end = await answered(call, 0)
  for (const { say, press, hang_up } of steps) {
    if (end !== 'goes on') return end
    if (hang_up) return 'caller'
    const heardMs = call.telephone.heardMs
    if (say !== undefined) await saying(call, say)
    if (press !== undefined) call.telephone.press(press)
    end = await answered(call, heardMs)
  }
  return end === 'goes on' ? 'caller' : end
}

async function asPlayed(
  call: SpokenCall,
  { maxTurns, ...played }: { persona: string; goal: string | null; maxTurns: number },
): Promise<EndedBy | null> {
  let end = await answered(call, 0)
  for (let turn = 1; turn <= maxTurns && end === 'goes on'; turn += 1) {
    const line = new Line()
    line.turns.push(...call.turns())
    const { text, hangsUp } = await playCaller({ ask: call.ask, line }, { ...played, model: call.callerModel })
    if (text === '') return 'caller'
    const heardMs = call.telephone.heardMs
    await saying(call, text)
    end = await answered(call, heardMs)
    if (hangsUp && end === 'goes on') return 'caller'
  }
  return end === 'goes on' ? 'limit' : end
}

async function saying(call: SpokenCall, text: string): Promise<void> {
  const audio = await call.speak(text)
  call.telephone.say(audio)
  while (call.telephone.isSpeaking && !call.isOver()) await call.moment()
}

/** Listens until the agent has said something more than was heard of it, and is at its end; or the call is. */
async function answered(call: SpokenCall, heardMs: number): Promise<'goes on' | EndedBy | null> {
  for (;;) {
    if (call.isOver()) return null
    if (call.isTooLong()) return 'limit'
    if (call.telephone.quietMs >= QUIET_MS && isIdle(call.state())) {
      if (call.isTransferred()) return 'transfer'
      if (call.telephone.heardMs > heardMs) return 'goes on'
    }
    await call.moment()
  }
}

/** The agent has nothing under way of which more would be heard; while it ends the call, that end is waited for. */
function isIdle({ phase, answers, runningTools, ending, speech, secondVoice }: SessionState): boolean {
  const { asked, active, queue } = answers
  const isAnswering = asked !== null || active !== null || queue.length > 0 || secondVoice.stream?.of != null
  const isListening = speech === null || speech.stoppedAtMs !== null
  return phase === 'talking' && ending === null && !isAnswering && runningTools.length === 0 && isListening
}
