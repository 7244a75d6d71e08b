import { systemClock } from '../../../service/src/kernel/clock.ts'
import { makeLog } from '../../../service/src/platform/log.ts'
import type { ModelSession, ModelSetup, RealtimeDriver } from '../../../service/src/platform/realtime/port.ts'
import { REALTIME_DRIVERS } from '../../../service/src/platform/realtime/registry.ts'
import type { Check, Subject } from '../check.ts'
import { Trouble } from '../faults.ts'
import { modelAdvice } from '../model-advice.ts'
import { ModelProbe } from '../model-probe.ts'
import { lookOfMulaw } from '../mulaw-look.ts'
import { timed } from '../timed.ts'

const BYTES_PER_MS = 8
const WORDS = 'This is Parley speaking.'
const NO_SUCH_ANSWER = 'resp_of_the_live_check'
/** What the refusal of a cancelled answer that never was is waited for; servers that refuse none are let off. */
const REFUSAL_MS = 2_000

type Conversation = { driver: RealtimeDriver; session: ModelSession; probe: ModelProbe }

/** Whether the model speaks as calls need it: opens a real session, has one sentence said, and cuts it short. */
export const modelCheck: Check = {
  name: 'model',
  needs: [],
  limitMs: 30_000,
  async run(subject, signal) {
    const { modelApiKey: apiKey, modelUrl: url, realtimeProvider } = subject.config
    if (apiKey === null) return { state: 'skipped', found: 'No key of a model is set.' }
    const log = makeLog({ level: 'silent', secrets: [apiKey] })
    const driver = REALTIME_DRIVERS[realtimeProvider]({ url, apiKey, clock: systemClock, log })
    const probe = new ModelProbe()
    const session = driver.open(setupOf(subject), probe)
    signal.addEventListener('abort', () => session.close(), { once: true })
    try {
      return { state: 'ok', found: await converse({ driver, session, probe }) }
    } finally {
      session.close()
    }
  },
}

/** As a call opens it, but for the instructions. */
function setupOf({ model, voice }: Subject): ModelSetup {
  return {
    model,
    voice,
    instructions: 'You test a telephone line. Say what you are asked to say, in English, and nothing else.',
    speed: null,
    output: 'audio',
    turnDetection: { type: 'server_vad', threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 },
    noiseReduction: null,
    reasoningEffort: null,
    transcription: { model: null, language: null },
    tools: [],
  }
}

async function converse(conversation: Conversation): Promise<string> {
  const readyMs = await becomeReady(conversation)
  const { firstAudioMs, spokenMs, words } = await speak(conversation)
  const cut = await truncate(conversation, Math.floor(spokenMs / 2))
  const seconds = (spokenMs / 1_000).toFixed(1)
  return `Ready in ${readyMs} ms, first sound ${firstAudioMs} ms after it was asked for, ${seconds} s of µ-law (“${words}”); ${cut}.`
}

async function becomeReady({ probe }: Conversation): Promise<number> {
  const { value, ms } = await timed(probe.first('ready', 'closed'))
  if (value.type === 'ready') return ms
  throw new Trouble(`The session did not open: ${value.code}. ${value.message}`, modelAdvice(value.code))
}

async function speak({ session, probe }: Conversation) {
  const askedAtMs = performance.now()
  session.send({ type: 'respond', requestId: 'live_check', instructions: `Say exactly: "${WORDS}"` })
  const end = await probe.first('response_done', 'closed', 'refused')
  if (end.type !== 'response_done') {
    throw new Trouble(`The answer was not spoken: ${end.code}. ${end.message}`, modelAdvice(end.code))
  }
  if (end.status !== 'completed') {
    const code = end.errorCode ?? end.status
    throw new Trouble(`The session is open, and the answer failed: ${code}.`, modelAdvice(code))
  }
  const { audio, firstAtMs } = probe.spoken()
  assertSpeech(audio, probe)
  const words = probe.all('agent_transcript').findLast(({ final }) => final)?.text ?? ''
  return {
    firstAudioMs: Math.round((firstAtMs ?? askedAtMs) - askedAtMs),
    spokenMs: audio.length / BYTES_PER_MS,
    words,
  }
}

function assertSpeech(audio: Buffer, probe: ModelProbe): void {
  if (audio.length === 0) {
    const isText = probe.all('agent_text').length > 0
    const found = isText ? 'The model answered in text and said nothing.' : 'The model answered without a sound.'
    throw new Trouble(found, 'Use a model that speaks (--model).')
  }
  const look = lookOfMulaw(audio)
  if (look === 'silence') throw new Trouble('What the model sent is silence.', 'Try another voice (--voice) or model.')
  if (look === 'another format') {
    const todo =
      'Callers would hear noise. The server must honour the format audio/pcmu (G.711 µ-law, 8 kHz) in both directions.'
    throw new Trouble('The server took the settings and sent audio of another format than µ-law.', todo)
  }
}

/**
 * Cuts what was said. A success is not told, so an answer that never was is cancelled next, which is refused: servers work
 * in order, and a refused truncation would have come before it.
 */
async function truncate({ driver, session, probe }: Conversation, audioEndMs: number): Promise<string> {
  if (!driver.capabilities.truncation) return 'cannot be cut short'
  session.send({ type: 'truncate', itemId: probe.spoken().itemId, audioEndMs })
  session.send({ type: 'cancel', responseId: NO_SUCH_ANSWER })
  const first = await Promise.race([probe.first('refused', 'closed'), silence()])
  if (first === null) return 'a truncation was not refused'
  if (first.type === 'refused' && first.code === 'response_cancel_not_active') return 'a truncation was taken'
  throw new Trouble(
    `Speech cannot be cut short: ${first.code}. ${first.message}`,
    'Callers could talk over the agent, but the model would not know what they heard. Use a server that takes conversation.item.truncate.',
  )
}

function silence(): Promise<null> {
  return new Promise((resolve) => systemClock.after(REFUSAL_MS, () => resolve(null)))
}
