import { expect, it } from 'vitest'
import { lastingBytes } from './lasting-bytes.ts'

it('keeps no memory but its own', () => {
  const bytes = lastingBytes('{"event":"média"}')
  expect(bytes.toString()).toBe('{"event":"média"}')
  expect(bytes.buffer.byteLength).toBe(bytes.length)
})
