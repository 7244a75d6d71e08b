import { randomFillSync } from 'node:crypto'
import type { Socket } from 'node:net'
import { FrameReader, type OnMessage } from './frame-reader.ts'
import { applyMask, encodeFrame, headerBytes, OPCODE, writeHeader } from './framing.ts'
import { listenWebSocket, openWebSocket, type Upgraded } from './handshake.ts'
import { type Relay, runRelay } from './relay-process.ts'
import { startsWith } from './starts-with.ts'

const PAYLOAD = Buffer.from('"payload":"')
const DELTA = Buffer.from('"delta":"')
const APPEND_HEAD = Buffer.from('{"type":"input_audio_buffer.append","audio":"')
const APPEND_TAIL = Buffer.from('"}')
const AUDIO_DELTA = Buffer.from('{"type":"response.output_audio.delta"')
const SPEECH_STARTED = Buffer.from('{"type":"input_audio_buffer.speech_started"')
const QUOTE = 0x22
/** Frames kept until the model's socket is open: 3 s. */
const WAITING_FRAMES_MAX = 150

/** The floor under the yardstick: the same relay on bare sockets, one buffer and one write per message. */
export function startNetRelay(modelUrl: string): Promise<Relay> {
  return listenWebSocket((caller) => new RelayedCall(caller, modelUrl))
}

class RelayedCall {
  readonly #caller: Socket
  #model: Socket | undefined
  #waiting: Buffer[] = []
  #streamSid: string | undefined
  #marks = 0
  #isOver = false

  constructor(caller: Upgraded, modelUrl: string) {
    this.#caller = caller.socket
    this.#listen(caller, true, this.#onCaller)
    openWebSocket(modelUrl).then(
      (model) => this.#onModelOpen(model),
      () => this.#end(),
    )
  }

  #listen({ socket, head }: Upgraded, masked: boolean, onMessage: OnMessage): void {
    const reader = new FrameReader({ masked, onMessage })
    const push = (chunk: Buffer) => {
      try {
        reader.push(chunk)
      } catch {
        socket.destroy()
      }
    }
    socket.on('data', push)
    socket.on('error', () => socket.destroy())
    socket.on('end', () => this.#end())
    socket.on('close', () => this.#end())
    if (head.length > 0) push(head)
  }

  #onModelOpen(model: Upgraded): void {
    this.#model = model.socket
    for (const frame of this.#waiting.splice(0)) model.socket.write(frame)
    this.#listen(model, false, this.#onModel)
    if (this.#isOver) model.socket.end(encodeFrame(OPCODE.close, NORMAL_CLOSURE, nextMask()))
  }

  readonly #onCaller: OnMessage = (opcode, bytes, start, end) => {
    if (opcode === OPCODE.close) this.#end()
    if (opcode === OPCODE.ping) this.#caller.write(encodeFrame(OPCODE.pong, bytes.subarray(start, end)))
    if (opcode !== OPCODE.text) return
    const key = bytes.indexOf(PAYLOAD, start)
    if (key < 0 || key >= end) {
      const message = JSON.parse(bytes.toString('latin1', start, end))
      if (message.event === 'start') this.#streamSid = message.streamSid
      if (message.event === 'stop') this.#end()
      return
    }
    const at = key + PAYLOAD.length
    const frame = appendFrame(bytes, at, bytes.indexOf(QUOTE, at))
    if (this.#model !== undefined) this.#model.write(frame)
    else if (this.#waiting.length < WAITING_FRAMES_MAX) this.#waiting.push(frame)
  }

  readonly #onModel: OnMessage = (opcode, bytes, start, end) => {
    if (opcode === OPCODE.close) this.#end()
    if (opcode === OPCODE.ping) this.#model?.write(encodeFrame(OPCODE.pong, bytes.subarray(start, end), nextMask()))
    // The caller's `start` may still be on its way; nobody hears audio before it.
    if (opcode !== OPCODE.text || this.#streamSid === undefined) return
    if (startsWith(bytes, start, AUDIO_DELTA)) {
      const at = bytes.indexOf(DELTA, start) + DELTA.length
      this.#caller.write(this.#mediaAndMark(bytes, at, bytes.indexOf(QUOTE, at)))
    } else if (startsWith(bytes, start, SPEECH_STARTED)) {
      this.#caller.write(
        encodeFrame(OPCODE.text, Buffer.from(`{"event":"clear","streamSid":"${this.#streamSid}"}`, 'latin1')),
      )
    }
  }

  /** Two frames in one buffer: the audio, and the mark behind it. */
  #mediaAndMark(bytes: Buffer, at: number, end: number): Buffer {
    this.#marks += 1
    const head = `{"event":"media","streamSid":"${this.#streamSid}","media":{"payload":"`
    const mark = `{"event":"mark","streamSid":"${this.#streamSid}","mark":{"name":"m${this.#marks}"}}`
    const mediaBytes = head.length + (end - at) + 3
    const frames = Buffer.allocUnsafe(
      headerBytes(mediaBytes, false) + mediaBytes + headerBytes(mark.length, false) + mark.length,
    )
    let next = writeHeader(frames, 0, { opcode: OPCODE.text, payloadBytes: mediaBytes })
    next += frames.write(head, next, 'latin1')
    next += bytes.copy(frames, next, at, end)
    next += frames.write('"}}', next, 'latin1')
    next = writeHeader(frames, next, { opcode: OPCODE.text, payloadBytes: mark.length })
    frames.write(mark, next, 'latin1')
    return frames
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#caller.end(encodeFrame(OPCODE.close, NORMAL_CLOSURE))
    this.#model?.end(encodeFrame(OPCODE.close, NORMAL_CLOSURE, nextMask()))
  }
}

const NORMAL_CLOSURE = Buffer.from([0x03, 0xe8])

function appendFrame(bytes: Buffer, at: number, end: number): Buffer {
  const payloadBytes = APPEND_HEAD.length + (end - at) + APPEND_TAIL.length
  const frame = Buffer.allocUnsafe(headerBytes(payloadBytes, true) + payloadBytes)
  const mask = nextMask()
  const payloadAt = writeHeader(frame, 0, { opcode: OPCODE.text, payloadBytes, mask })
  frame.set(APPEND_HEAD, payloadAt)
  bytes.copy(frame, payloadAt + APPEND_HEAD.length, at, end)
  frame.set(APPEND_TAIL, frame.length - APPEND_TAIL.length)
  applyMask(frame, payloadAt, frame.length, mask)
  return frame
}

const masks = new Uint32Array(2_048)
let masksUsed = masks.length

/** A masking key from the system's random source, drawn in blocks. */
function nextMask(): number {
  if (masksUsed === masks.length) {
    randomFillSync(masks)
    masksUsed = 0
  }
  return masks[masksUsed++] as number
}

if (import.meta.main) await runRelay(startNetRelay)
