import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { VoiceReply, VoiceRequest, VoiceWorkerData } from './voice-worker.ts'

// A sentence takes 0.1 s; a busy machine ten times that. A worker that is silent for so long is stuck.
const SENTENCE_TIMEOUT_MS = 30_000

type Thread = { worker: Worker; folder: string }
type Pending = { resolve(mulaw: Uint8Array): void; reject(error: Error): void; timer: NodeJS.Timeout }

/**
 * Runs the synthesiser in a worker thread, so that nobody's audio clock waits for it.
 * The thread starts with the first sentence. If it dies, what waits for it is rejected and the next sentence starts another.
 */
export class VoiceThread {
  #thread: Thread | null = null
  #pending = new Map<number, Pending>()
  #nextId = 1
  #closed = false

  /** µ-law of one sentence. Throws when the synthesiser fails, hangs for 30 s, or the thread was closed. */
  speak(sentence: string, voice: VoiceRequest['voice']): Promise<Uint8Array> {
    if (this.#closed) return Promise.reject(new Error('the voice is closed'))
    const thread = this.#running()
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => void this.#fail(thread, new Error('the voice is stuck')), SENTENCE_TIMEOUT_MS)
      this.#pending.set(id, { resolve, reject, timer })
      thread.worker.postMessage({ id, sentence, voice } satisfies VoiceRequest)
    })
  }

  /** Ends the thread; sentences that wait are rejected. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#thread) await this.#fail(this.#thread, new Error('the voice is closed'))
  }

  #running(): Thread {
    if (this.#thread) return this.#thread
    // The file has another ending in the published package, where the types are stripped.
    const file = new URL(import.meta.url.endsWith('.ts') ? './voice-worker.ts' : './voice-worker.js', import.meta.url)
    const workerData: VoiceWorkerData = { folder: mkdtempSync(join(tmpdir(), 'parley-voice-')) }
    // The synthesiser's system interface is marked experimental, which is no news to whoever makes a call. (Node 20.10 and before
    // refuse to leave out only such warnings.)
    const worker = new Worker(file, { workerData, execArgv: ['--no-warnings'] })
    const thread = { worker, folder: workerData.folder }
    worker.on('message', (reply: VoiceReply) => this.#settle(reply))
    worker.on('error', (error: Error) => void this.#fail(thread, error))
    worker.on('exit', () => void this.#fail(thread, new Error('the voice ended')))
    this.#thread = thread
    return thread
  }

  #settle(reply: VoiceReply): void {
    const pending = this.#pending.get(reply.id)
    if (!pending) return
    this.#pending.delete(reply.id)
    clearTimeout(pending.timer)
    if ('error' in reply) pending.reject(new Error(`the voice failed: ${reply.error}`))
    else pending.resolve(reply.mulaw)
  }

  async #fail(thread: Thread, error: Error): Promise<void> {
    if (this.#thread !== thread) return
    this.#thread = null
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer)
      pending.reject(error)
    }
    this.#pending.clear()
    await thread.worker.terminate()
    await rm(thread.folder, { recursive: true, force: true })
  }
}
