import { onTestFinished } from 'vitest'
import { TestClock } from '../../../../test/harness/clock.ts'
import { until } from '../../../../test/harness/wait.ts'
import { makeLog } from '../../log.ts'
import type { ModelEvent, ModelListener, ModelSession, ModelSetup } from '../port.ts'
import { openaiDriver } from './driver.ts'
import { type Connection, ScriptedServer } from './scripted-server.fixture.ts'

export const API_KEY = 'secret-key-1234'

export const SETUP: ModelSetup = {
  model: null,
  voice: null,
  instructions: 'You are Ada.',
  speed: null,
  reasoningEffort: null,
  output: 'audio',
  turnDetection: { type: 'server_vad', threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 500 },
  noiseReduction: null,
  transcription: { model: null, language: null },
  tools: [],
}

/** Keeps what a session tells. */
export class Recorder implements ModelListener {
  readonly events: ModelEvent[] = []
  readonly audioPieces: { responseId: string; itemId: string; base64: string }[] = []
  /** Runs after each piece of audio. */
  onAudio: () => void = () => {}

  event(event: ModelEvent): void {
    this.events.push(event)
  }

  audio(responseId: string, itemId: string, payload: Buffer): void {
    this.audioPieces.push({ responseId, itemId, base64: payload.toString('latin1') })
    this.onAudio()
  }

  ofType<T extends ModelEvent['type']>(type: T): Extract<ModelEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type)
  }

  first<T extends ModelEvent['type']>(type: T): Promise<Extract<ModelEvent, { type: T }>> {
    return until(() => this.ofType(type)[0], { what: type })
  }
}

/** A driver, the server that it talks to, and the clock that it goes by. */
export type Bench = {
  server: ScriptedServer
  clock: TestClock
  logLines: string[]
  open(setup?: Partial<ModelSetup>, url?: string): { session: ModelSession; heard: Recorder }
  /** Opens a session that is set up. */
  ready(setup?: Partial<ModelSetup>): Promise<{ session: ModelSession; heard: Recorder; server: Connection }>
}

/** Everything is closed when the test is over. */
export async function makeBench(): Promise<Bench> {
  const server = new ScriptedServer()
  await server.listen()
  onTestFinished(() => server.close())
  const clock = new TestClock()
  const logLines: string[] = []
  const log = makeLog({ level: 'debug', destination: { write: (line) => logLines.push(line) }, secrets: [] })
  const defaults = { model: 'gpt-realtime', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' }

  const open: Bench['open'] = (setup = {}, url = server.url) => {
    const heard = new Recorder()
    const session = openaiDriver({ url, apiKey: API_KEY, clock, log, defaults }).open({ ...SETUP, ...setup }, heard)
    onTestFinished(() => session.close())
    return { session, heard }
  }
  const ready: Bench['ready'] = async (setup = {}) => {
    const opened = open(setup)
    const connection = await server.connection(server.connections.length + 1)
    connection.send('session.created', { session: {} })
    await connection.event('session.update')
    connection.send('session.updated', { session: {} })
    await opened.heard.first('ready')
    return { ...opened, server: connection }
  }
  return { server, clock, logLines, open, ready }
}
