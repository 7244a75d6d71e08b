import { type Attributes, type Context, type SpanOptions, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { makeTracing } from './tracing.ts'

type Seen = { name: string; below: string | null; fromMs: number; toMs: number; attributes: Attributes }

/** Stands in for an SDK: keeps the spans that have ended. */
function record(seen: Seen[]): void {
  const names = new WeakMap<object, string>()
  const startSpan = (name: string, { startTime, attributes = {} }: SpanOptions = {}, within?: Context) => {
    const parent = within ? trace.getSpan(within) : undefined
    const mine: Attributes = { ...attributes }
    const span = {
      isRecording: () => true,
      setAttributes: (more: Attributes) => void Object.assign(mine, more),
      spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
      end: (at: number) =>
        void seen.push({
          ...{ name, fromMs: Number(startTime), toMs: at, attributes: mine },
          below: (parent && names.get(parent)) ?? null,
        }),
    }
    names.set(span, name)
    return span
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan: () => undefined }) } as never)
}

afterEach(() => trace.disable())

describe('tracing', () => {
  it('tells spans at the wall clock’s instants, each below the one that it is a part of', async () => {
    const seen: Seen[] = []
    record(seen)
    const clock = new TestClock()
    const startMs = clock.now()
    const call = makeTracing(clock).begin('call', { id: 'CA1' })
    await clock.advance(1_000)
    const nowMs = clock.monotonicMs()
    const part = { name: 'part', startMs: nowMs - 400, endMs: nowMs - 100 }
    call.add(() => ({ name: 'turn', startMs: nowMs - 500, endMs: nowMs, attributes: { n: 1 }, parts: [part] }))
    call.end({ why: 'done' })
    expect(seen).toEqual([
      { name: 'part', below: 'turn', fromMs: startMs + 600, toMs: startMs + 900, attributes: {} },
      { name: 'turn', below: 'call', fromMs: startMs + 500, toMs: startMs + 1_000, attributes: { n: 1 } },
      { name: 'call', below: null, fromMs: startMs, toMs: startMs + 1_000, attributes: { id: 'CA1', why: 'done' } },
    ])
  })

  it('makes nothing of a call where nobody has registered an SDK', () => {
    const call = makeTracing(new TestClock()).begin('call', {})
    const other = makeTracing(new TestClock()).begin('call', {})
    expect(call).toBe(other)
    call.add(() => {
      throw new Error('nobody wants to know')
    })
    call.end()
  })
})
