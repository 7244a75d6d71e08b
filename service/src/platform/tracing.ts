import { type Attributes, context, type Span, SpanKind, trace } from '@opentelemetry/api'
import type { Clock } from '../kernel/clock.ts'

/** A stretch of time that is over, with those that it was made of. Times are monotonic ms. */
export type PastSpan = { name: string; startMs: number; endMs: number; attributes?: Attributes; parts?: PastSpan[] }

/** A span that is going on. */
export type OpenSpan = {
  /** Something below it is over. What it was is only asked where somebody listens. */
  add(span: () => PastSpan): void
  end(attributes?: Attributes): void
}

/** Spans by OpenTelemetry, for whoever has registered an SDK in this process; without one nothing is made of them. */
export type Tracing = {
  /** Begins one now. */
  begin(name: string, attributes: Attributes): OpenSpan
}

/** @param clock the wall clock's instants of spans are reckoned by it, backwards from when they are told. */
export function makeTracing(clock: Pick<Clock, 'now' | 'monotonicMs'>): Tracing {
  const tracer = trace.getTracer('parley')

  function add(parent: Span, { name, startMs, endMs, attributes = {}, parts = [] }: PastSpan): void {
    const wallMs = clock.now() - clock.monotonicMs()
    const options = { startTime: wallMs + startMs, attributes, kind: SpanKind.INTERNAL }
    const span = tracer.startSpan(name, options, trace.setSpan(context.active(), parent))
    for (const part of parts) add(span, part)
    span.end(wallMs + endMs)
  }

  return {
    begin(name, attributes) {
      const span = tracer.startSpan(name, { startTime: clock.now(), attributes, kind: SpanKind.SERVER })
      // Nobody listens: an SDK has to be there before the calls.
      if (!span.isRecording()) return SILENT
      return {
        add: (past) => add(span, past()),
        end(more = {}) {
          span.setAttributes(more)
          span.end(clock.now())
        },
      }
    },
  }
}

const SILENT: OpenSpan = { add() {}, end() {} }
