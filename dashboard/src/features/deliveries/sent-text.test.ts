import { describe, expect, it } from 'vitest'
import { LOCALE } from '../../components/locale.ts'
import { sentText } from './sent-text.ts'

const MANY = (10_000).toLocaleString(LOCALE)

describe('what came of sending deliveries again', () => {
  it.each([
    [1, 1, 'One is sent again.'],
    [3, 3, '3 are sent again.'],
    [0, 3, 'None are sent again. On the way just now, or not there any more: 3.'],
    [25, null, '25 are sent again.'],
    [10_000, null, `${MANY} are sent again. There may be more: press the button again for the rest.`],
  ])('tells %i of %j', (sent, asked, text) => expect(sentText(sent, asked)).toBe(text))
})
