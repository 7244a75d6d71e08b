import { expect, it } from 'vitest'
import { lineOfMember } from './json-places.ts'

const TEXT = `{
  "name": "a \\"name\\": {",
  "limits": { "idle_seconds": 1,
    "max_call_seconds": 2 },
  "tools": [
    "one",
    { "a/b": true }
  ]
}`

it.each([
  ['/name', 2],
  ['/limits/idle_seconds', 3],
  ['/limits/max_call_seconds', 4],
  ['/tools/0', 6],
  ['/tools/1/a~1b', 7],
  ['/limits/missing', 3],
  ['/missing', 1],
  ['', 1],
])('finds the line of %j', (pointer, line) => {
  expect(lineOfMember(TEXT, pointer)).toBe(line)
})
