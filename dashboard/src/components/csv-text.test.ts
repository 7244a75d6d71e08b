import { expect, it } from 'vitest'
import { csvText } from './csv-text.ts'

const bytesOf = (...bytes: number[]) => new Uint8Array(bytes).buffer

it('is what a file says in UTF-8, and nothing of one that has other letters', () => {
  expect(csvText(bytesOf(0x4d, 0xc3, 0xbc))).toBe('Mü')
  expect(csvText(bytesOf(0x4d, 0xfc))).toBeNull()
})
