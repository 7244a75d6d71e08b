import type { CallApp } from './call-app.ts'
import type { ScriptedSession } from './scripted-model.ts'
import type { StreamClient } from './stream-client.ts'
import { until } from './wait.ts'

/** A call in which a caller and an agent take turns, played by the test. */
export type TalkingCall = {
  readonly callSid: string
  readonly client: StreamClient
  /** What was said so far, in its order: as it is to be read from the transcript. */
  readonly said: string[]
  /** The caller asks and the agent answers: 200 ms of audio. */
  talk(): void
  /** Says, as a carrier does, that what was answered has been played. */
  played(): Promise<void>
}

const ROUND_MS = 1_000
/** Until then the answer has been played. */
export const PLAYED_MS = 300
/** What is said right at the beginning does not stop the greeting. */
const GREETING_GUARD_MS = 1_000
/** 200 ms. */
const ANSWER = Buffer.alloc(1_600).toString('base64')
const USAGE = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, audioSeconds: 0.2 }

/** Calls come in, their streams begin, and the agent greets each; what is said from then on counts. Takes 1.3 s of their time. */
export async function startTalking(app: CallApp, callSids: string[]): Promise<TalkingCall[]> {
  const calls: TalkingCall[] = []
  for (const callSid of callSids) calls.push(await startCall(app, callSid))
  await app.clock.advance(PLAYED_MS)
  for (const call of calls) await call.played()
  await app.clock.advance(GREETING_GUARD_MS)
  return calls
}

async function startCall(app: CallApp, callSid: string): Promise<TalkingCall> {
  const client = await app.talk({ CallSid: callSid })
  const model = app.model.last
  const said = [`${callSid} is greeted.`]
  let rounds = 0
  let echoed = 0
  agentAnswers(model, { asked: null, answered: 'a0' }, { text: said.join(), responseId: 'r0' })
  return {
    callSid,
    client,
    said,
    talk() {
      rounds += 1
      const names = { before: `a${rounds - 1}`, asked: `c${rounds}`, answered: `a${rounds}` }
      const texts = [`${callSid} asks ${rounds}.`, `${callSid} is answered ${rounds}.`] as const
      callerAsks(model, names, { text: texts[0], atMs: rounds * ROUND_MS })
      agentAnswers(model, names, { text: texts[1], responseId: `r${rounds}` })
      said.push(...texts)
    },
    async played() {
      const marks = () => client.messages.filter(({ event }) => event === 'mark')
      await until(() => marks().length > echoed, { what: 'the mark behind the answer' })
      for (const mark of marks().slice(echoed)) client.send(mark)
      echoed = marks().length
    },
  }
}

type Names = { before: string; asked: string; answered: string }

function callerAsks(model: ScriptedSession, names: Names, { text, atMs }: { text: string; atMs: number }): void {
  const { asked: itemId, before: previousItemId } = names
  model.tell({ type: 'speech_started', itemId, audioStartMs: atMs })
  model.tell({ type: 'speech_stopped', itemId, audioEndMs: atMs + 900 })
  model.tell({ type: 'committed', itemId, previousItemId })
  model.tell({ type: 'caller_transcript', itemId, text })
}

type Answered = { asked: string | null; answered: string }

function agentAnswers(model: ScriptedSession, names: Answered, answer: { text: string; responseId: string }): void {
  const { answered: itemId, asked: previousItemId } = names
  const { text, responseId } = answer
  model.tell({ type: 'response_started', responseId })
  model.tell({ type: 'item_added', itemId, previousItemId, role: 'agent' })
  model.tell({ type: 'agent_transcript', responseId, itemId, text, final: true })
  model.speak(responseId, itemId, ANSWER)
  model.tell({ type: 'audio_done', responseId, itemId })
  const done = { responseId, status: 'completed', errorCode: null, fault: null, usage: USAGE } as const
  model.tell({ type: 'response_done', ...done })
}
