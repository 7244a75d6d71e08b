import { describe, expect, it } from 'vitest'
import { fillBlock } from './docs-block.ts'

describe('fillBlock', () => {
  it('replaces what stood in the block, and only that', () => {
    const filled = fillBlock('a\n<!-- t -->\nold\n<!-- /t -->\nb', 't', 'new')
    expect(filled).toBe('a\n<!-- t -->\nnew\n<!-- /t -->\nb')
    expect(fillBlock(filled, 't', 'new')).toBe(filled)
  })

  it('refuses a document without the block', () => {
    expect(() => fillBlock('a', 't', 'new')).toThrow('no block t')
  })
})
