import type { Socket } from 'node:net'
import { DELTA_BYTES, isSameBehindStamp, noiseBase64 } from './audio.ts'
import type { Call, ModelEnd } from './call.ts'
import { Conversation } from './conversation.ts'
import { FrameReader } from './frame-reader.ts'
import { encodeFrame, OPCODE } from './framing.ts'
import type { Upgraded } from './handshake.ts'
import { CALLER_AUDIO } from './media-frame.ts'
import * as events from './model-events.ts'
import type { Scratch } from './scratch.ts'
import { blankStamp, KIND, readStamp, writeStamp } from './stamp.ts'
import { startsWith } from './starts-with.ts'
import { nowUs, type Tally } from './tally.ts'

/** The audio of every delta, without its stamp, as base64. */
export const MODEL_AUDIO = noiseBase64(DELTA_BYTES)

const APPEND = Buffer.from('{"type":"input_audio_buffer.append"')
const AUDIO_KEY = Buffer.from('"audio":"')
const QUOTE = 0x22

/** What the sockets of a load share. */
export type ModelDeps = {
  tally: Tally
  scratch: Scratch
  callOf: (id: number) => Call | undefined
  /** From the request for an answer to its first delta. */
  thinkMs: number
}

/**
 * The model's end of one call, as bytes.
 *
 * Which call it carries it learns from the first stamped frame, so the system under test needs to say nothing about
 * it; from then on another call's frame is a crossing. What is said, and when, is the conversation's.
 */
export class ModelSocket implements ModelEnd {
  readonly #socket: Socket
  readonly #deps: ModelDeps
  readonly #reader: FrameReader
  readonly #stamp = blankStamp()
  readonly #conversation: Conversation
  #call: Call | undefined

  constructor(upgraded: Upgraded, deps: ModelDeps) {
    this.#socket = upgraded.socket
    this.#deps = deps
    this.#conversation = new Conversation(deps.thinkMs)
    this.#reader = new FrameReader({ masked: true, onMessage: this.#onMessage })
    this.#socket.on('data', (chunk) => this.#push(chunk))
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.on('end', () => this.#socket.end())
    this.#socket.on('close', () => this.#onClose())
    this.#sendTexts([events.sessionCreated()])
    if (upgraded.head.length > 0) this.#push(upgraded.head)
  }

  /** Whether nothing is being said, and nothing has to be. */
  get isQuiet(): boolean {
    return this.#conversation.isQuiet
  }

  /** Does what is due: what the caller does by the script, then what the running answer has to say. */
  beat(call: Call, nowMs: number): void {
    if (!this.#socket.writable) return
    for (let step = call.script.due(nowMs); step !== undefined; step = call.script.due(nowMs)) {
      if (step.kind === 'speech_started' && step.isBargeIn) call.bargeInUs = nowUs()
      this.#sendTexts(this.#conversation.caller(call, step, nowMs))
      if (step.kind === 'speech_ended') call.turnEnded(nowUs(), this.#conversation.isAnswerOwed)
    }
    for (let due = this.#conversation.due(nowMs); due !== undefined; due = this.#conversation.due(nowMs)) {
      if (due.step.kind === 'done') this.#sendTexts(this.#conversation.finish())
      else this.#sendDelta(call, due.ids, due.step.isFirst)
    }
  }

  /** Cuts the socket. */
  destroy(): void {
    this.#socket.destroy()
  }

  #sendDelta(call: Call, ids: events.AnswerIds, isFirst: boolean): void {
    const { scratch } = this.#deps
    const audio = scratch.addParts(events.deltaHead(ids), MODEL_AUDIO, events.DELTA_TAIL)
    scratch.addText(events.transcriptDelta(ids))
    const kind = isFirst ? KIND.firstDelta : KIND.delta
    writeStamp(audio.bytes, audio.at, { call: call.id, sequence: call.deltasSent, kind, sentUs: nowUs() })
    call.deltasSent += 1
    scratch.send(this.#socket)
  }

  #push(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch {
      this.#socket.destroy()
    }
  }

  readonly #onMessage = (opcode: number, bytes: Buffer, start: number, end: number): void => {
    if (opcode === OPCODE.text) {
      if (startsWith(bytes, start, APPEND)) this.#onAudio(bytes, start, end)
      else this.#onEvent(bytes.toString('latin1', start, end))
      return
    }
    if (opcode === OPCODE.ping) this.#socket.write(encodeFrame(OPCODE.pong, bytes.subarray(start, end)))
    if (opcode === OPCODE.close) this.#socket.end(encodeFrame(OPCODE.close, bytes.subarray(start, end)))
  }

  #onEvent(text: string): void {
    const wasOwed = this.#conversation.isAnswerOwed
    this.#sendTexts(this.#conversation.client(JSON.parse(text), performance.now()))
    if (wasOwed && !this.#conversation.isAnswerOwed) this.#call?.turnAsked(nowUs())
  }

  #onAudio(bytes: Buffer, start: number, end: number): void {
    const key = bytes.indexOf(AUDIO_KEY, start)
    const at = key + AUDIO_KEY.length
    const stamp = this.#stamp
    // Audio without a stamp is the system's own, such as padding with silence.
    if (key < 0 || at >= end || !readStamp(bytes, at, stamp)) return
    const call = this.#call ?? this.#bind(stamp.call)
    if (call === undefined || call.id !== stamp.call || stamp.kind !== KIND.callerFrame) {
      this.#deps.tally.faults.crossed += 1
      return
    }
    if (!isSameBehindStamp(CALLER_AUDIO, bytes, at, bytes.indexOf(QUOTE, at))) this.#deps.tally.faults.damaged += 1
    if (call.up.accept(stamp.sequence)) this.#deps.tally.frameArrived(stamp.sentUs, nowUs())
  }

  /** Takes a call that no other socket carries. */
  #bind(id: number): Call | undefined {
    const call = this.#deps.callOf(id)
    if (call === undefined || call.modelEnd !== undefined) return undefined
    call.modelEnd = this
    this.#call = call
    this.#sendTexts(this.#conversation.bind(call, performance.now()))
    return call
  }

  #sendTexts(texts: readonly string[]): void {
    if (texts.length === 0) return
    for (const text of texts) this.#deps.scratch.addText(text)
    this.#deps.scratch.send(this.#socket)
  }

  #onClose(): void {
    if (this.#call?.modelEnd === this) this.#call.modelEnd = undefined
  }
}
