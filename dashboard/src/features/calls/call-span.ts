import { dayStart } from '../../components/filters.tsx'
import type { CallFilters } from './call-filters.ts'

type Days = Pick<CallFilters, 'first_day' | 'last_day' | 'since' | 'until'>
type Span = { created_after: string | undefined; created_before: string | undefined }

/**
 * When calls were made that are asked for by days and by a span: what is within both. One that was never placed has not started, but
 * was made. What the address says wrongly the service refuses.
 */
export function madeWithin({ first_day: first, last_day: last, since, until }: Days): Span {
  return {
    created_after: outermost(dayStart(first), since, (one, other) => one > other),
    created_before: outermost(dayStart(last, 1), until, (one, other) => one < other),
  }
}

function outermost(
  day: string | undefined,
  instant: string | undefined,
  isFurther: (dayMs: number, instantMs: number) => boolean,
): string | undefined {
  if (day === undefined || instant === undefined) return day ?? instant
  return isFurther(new Date(day).getTime(), new Date(instant).getTime()) ? day : instant
}
