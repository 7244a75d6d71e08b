import { NativeSelect } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { RANGES, type Range } from './overview-filters.ts'

/** How far back one looks. It stands in the address; a span that was picked from another range does not stay. */
export function RangeChoice({ range }: { range: Range }) {
  const navigate = useNavigate()
  return (
    <NativeSelect
      size="sm"
      aria-label="How far back"
      data={RANGES.map(({ value, label }) => ({ value, label }))}
      value={range.value}
      onChange={(event) => {
        void navigate({ to: '.', search: { range: event.currentTarget.value } as never, replace: true })
      }}
    />
  )
}
