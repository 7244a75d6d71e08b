import type {
  ModelCommand,
  ModelEvent,
  ModelListener,
  ModelSession,
  ModelSetup,
  RealtimeDriver,
} from '../../src/platform/realtime/port.ts'

/** A session with a scripted model, as the test sees it. */
export type ScriptedSession = {
  setup: ModelSetup
  /** Base64 µ-law, frame by frame. */
  appended: string[]
  commands: ModelCommand[]
  isClosed: boolean
  tell(event: ModelEvent): void
  speak(responseId: string, itemId: string, payload: string): void
}

/** A model that does what the test tells it to; its sessions are ready as soon as they are opened, unless told otherwise. */
export class ScriptedModel implements RealtimeDriver {
  readonly name = 'scripted'
  readonly capabilities = { truncation: true, callerTranscripts: true, textOutput: true, nativeMulaw: true }
  readonly sessions: ScriptedSession[] = []
  isReadyAtOnce = true

  get last(): ScriptedSession {
    const session = this.sessions.at(-1)
    if (!session) throw new Error('no session was opened with the model')
    return session
  }

  open(setup: ModelSetup, listener: ModelListener): ModelSession {
    const session: ScriptedSession = {
      setup,
      appended: [],
      commands: [],
      isClosed: false,
      tell: (event) => listener.event(event),
      speak: (responseId, itemId, payload) => listener.audio(responseId, itemId, Buffer.from(payload)),
    }
    this.sessions.push(session)
    if (this.isReadyAtOnce) queueMicrotask(() => session.tell({ type: 'ready' }))
    return {
      append: (payload) => void session.appended.push(payload.toString()),
      send: (command) => void session.commands.push(command),
      bufferedBytes: () => 0,
      close() {
        session.isClosed = true
      },
    }
  }
}
