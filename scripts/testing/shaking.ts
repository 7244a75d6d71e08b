// Loaded into each process of a shaken run before all else (`npm run test:shaken`): it stands still now and then, as on a machine that has
// much else to do, and what it tells the server of its database goes out late. What comes in time by chance alone shows itself.
import { Socket } from 'node:net'

const DATABASE_PORT = Number(new URL(process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://localhost:0').port)

type Span = { share: number; fromMs: number; toMs: number }

/** Mostly as short as what a busy machine does between two slices of its time, now and then as long as what a test may wait for. */
const STANDSTILLS: readonly Span[] = [
  { share: 0.85, fromMs: 0, toMs: 40 },
  { share: 0.13, fromMs: 100, toMs: 300 },
  { share: 0.02, fromMs: 500, toMs: 1_200 },
]
const BETWEEN_MS = { fromMs: 50, toMs: 450 }
const DELAYS: readonly Span[] = [
  { share: 0.7, fromMs: 0, toMs: 0 },
  { share: 0.28, fromMs: 0, toMs: 8 },
  { share: 0.02, fromMs: 0, toMs: 150 },
]

function within({ fromMs, toMs }: Omit<Span, 'share'>): number {
  return fromMs + Math.random() * (toMs - fromMs)
}

function oneOf(spans: readonly Span[]): number {
  let left = Math.random()
  const span = spans.find(({ share }) => {
    left -= share
    return left < 0
  })
  return span ? within(span) : 0
}

/** Sleeps and does not spin: the processor is for the others. */
function standStill(cell: Int32Array): void {
  setTimeout(() => {
    Atomics.wait(cell, 0, 0, oneOf(STANDSTILLS))
    standStill(cell)
  }, within(BETWEEN_MS)).unref()
}

/** All that a socket of the database is told goes out in its order, each piece behind a delay of its own. */
function delayWrites(port: number): void {
  const { connect, write, end } = Socket.prototype
  const told = new WeakMap<Socket, Promise<void>>()
  const later = (socket: Socket, tell: () => void) => {
    const delayMs = oneOf(DELAYS)
    const before = told.get(socket) ?? Promise.resolve()
    const delayed = before.then(() => new Promise<void>((resolve) => setTimeout(resolve, delayMs)))
    told.set(socket, delayed.then(tell))
  }
  const patched = {
    connect(this: Socket, ...args: unknown[]) {
      const [first] = args.flat()
      const asked = typeof first === 'object' && first !== null && 'port' in first ? first.port : first
      if (Number(asked) === port) told.set(this, Promise.resolve())
      return Reflect.apply(connect, this, args)
    },
    write(this: Socket, ...args: unknown[]) {
      if (!told.has(this)) return Reflect.apply(write, this, args)
      later(this, () => void (this.destroyed || Reflect.apply(write, this, args)))
      return true
    },
    end(this: Socket, ...args: unknown[]) {
      if (!told.has(this)) return Reflect.apply(end, this, args)
      later(this, () => void Reflect.apply(end, this, args))
      return this
    },
  }
  Object.assign(Socket.prototype, patched)
}

// Only those that tests run in: what leads them has limits of its own.
if (process.env['VITEST']) {
  standStill(new Int32Array(new SharedArrayBuffer(4)))
  if (DATABASE_PORT > 0) delayWrites(DATABASE_PORT)
}
