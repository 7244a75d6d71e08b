import { describe, expect, it } from 'vitest'
import { growth } from '../../../test/harness/growth.ts'
import { redactorFor } from './redact.ts'

const redactor = redactorFor(true)
const turn = (text: string, unheard = '') => redactor.turn({ text, unheard })

describe('what is said', () => {
  it.each([
    ['It is 4111 1111 1111 1111.', 'It is [card].'],
    ['It is four one one one, double one double one, 1111 1111.', 'It is [card].'],
    ['Call +1 (202) 555-0101.', 'Call [phone].'],
    ['Call oh seven seven, double oh nine, double oh one, two three.', 'Call [phone].'],
    ['Write to ana.diaz@example.org.', 'Write to [email].'],
    ['Write to ana dot diaz at example dot org.', 'Write to [email].'],
    ['You can mail ana.diaz at gmail.com.', 'You can mail [email].'],
    ['You can mail ana.diaz @ gmail.com.', 'You can mail [email].'],
    ['You can mail ana.diaz at gmail . com.', 'You can mail [email].'],
    ['You can mail ana . diaz @ gmail . com, please.', 'You can mail [email], please.'],
    ['The code is seven seven three nine.', 'The code is [digits].'],
    ['My number is 12345678.', 'My number is [digits].'],
    ['At 10, +1 202 555 0101.', 'At 10, [phone].'],
    ['Call +1 202 555 0101, +1 202 555 0102.', 'Call [phone], [phone].'],
    ['Call at 10:30, 030 123456.', 'Call at 10:30, [phone].'],
    ['It is 4111 +1111 +1111 +1111, or 4111+1111+1111+1111.', 'It is [card], or [card].'],
    ['It is 4111 1111 1111 1111 at 12:30.', 'It is [card] at 12:30.'],
    ['It is 4:15-555-12:34.', 'It is 4:[digits]:34.'],
    ['It is 1:23 456 789.', 'It is 1:[digits].'],
    ['4:15 555.', '[digits]:[digits].'],
    ['我的电话是13812345678。', '我的电话是[phone]。'],
    ['カード番号は4111-1111-1111-1111です', 'カード番号は[card]です'],
    ['ナンバー０９０－１２３４－５６７８へ', 'ナンバー[phone]へ'],
    ['제 번호는 010-1234-5678입니다', '제 번호는 [phone]입니다'],
    ['เบอร์0812345678ครับ', 'เบอร์[phone]ครับ'],
    ['اتصل ب0501234567', 'اتصل ب[phone]'],
    ['بطاقتي ٤١١١\u200f١١١١\u200f١١١١\u200f١١١١', 'بطاقتي [card]'],
    ['番号は4、7、1、1です', '番号は[digits]です'],
    ['邮箱是ana.diaz@example.org谢谢', '邮箱是[email]谢谢'],
    ['邮箱是张三@例子.中国', '[email]'],
    ['Write to ana@example.한국 today', 'Write to [email] today'],
    ['Write to ana@mail.例子.中国 today', 'Write to [email] today'],
    ['邮箱是ana@例え.jpです', '邮箱是[email]です'],
    ['Mail ana@123例.中国', 'Mail [email]'],
    ['メールはana.diaz＠example.orgです', 'メールは[email]です'],
    ['メールはａｎａ＠ｅｘａｍｐｌｅ．ｏｒｇです', 'メールは[email]です'],
    ['Mail maria.josé@bücher.भारत', 'Mail [email]'],
  ])('loses what is personal: %s', (said, told) => expect(turn(said).text).toBe(told))

  it.each([
    ['years', 'From 2019 to 2026, or nineteen ninety five.'],
    ['prices', 'It is $1,234,567.00, or 1 000 000 euros, or 19.99, 24.99.'],
    ['amounts of Europe', 'Es sind 1.234.567,89 euros, oder 12.345.678,90, ou 1 234 567,89 € en tout.'],
    ['addresses of the internet', 'I booked at booking.com, a room at booking.com, look at example.org.'],
    ['the end of a sentence behind a place', 'We met Ana at work . Come in, or at home. It is late.'],
    ['dates and times', 'On 2026-11-22 10:30:00, on 22.11.2026 at 18:45.'],
    ['order numbers of six digits', 'Order 123456 is late.'],
    ['codes with letters', 'Flight LH1234567, 550e8400-e29b-41d4-a716-446655440000.'],
    ['counting', 'Testing, one, two, three, four.'],
    ['amounts and dates of East Asia', '2026年11月29日、12345678円、1234567원, 30000000元。'],
    ['dates and thousands in wide signs', '会议在2026．11．29举行，出生于１９９０－１２－０１的客户。12，345，678人'],
  ])('keeps %s', (_, said) => expect(turn(said).text).toBe(said))

  it('loses a turn that is nothing but digits: a piece of a longer number', () => {
    expect(
      ['4111', 'Uh, 4111.', 'one one one', '2026', 'A hundred', 'one hundred'].map((said) => turn(said).text),
    ).toEqual(['[digits]', 'Uh, [digits].', '[digits]', '[digits]', 'A hundred', 'one hundred'])
  })

  it('loses a number that was cut off once, where it began', () => {
    expect(turn('Your card is 4111 1111', '1111 1111, right?')).toEqual({
      text: 'Your card is [card]',
      unheard: ', right?',
    })
    expect(turn('Hello.', 'Your card is 4111 1111 1111 1111.')).toEqual({
      text: 'Hello.',
      unheard: 'Your card is [card].',
    })
    expect(turn('It is 4111 1111 1111 1111', 'then.')).toEqual({ text: 'It is [card]', unheard: 'then.' })
  })

  it('is left alone where the tenant does not ask for it', () => {
    const said = { text: '4111 1111 1111 1111', unheard: '' }
    expect(redactorFor(false).turn(said)).toBe(said)
  })
})

describe('what is typed', () => {
  it.each([
    ['4719', '[digits]'],
    ['1984', '[digits]'],
    ['20262025', '[digits]'],
    ['12*3A', '[digits]'],
    ['0301234567', '[phone]'],
    ['4111111111111111', '[card]'],
    ['42', '42'],
    ['#', '#'],
  ])('on the keypad is lost whole from three digits on: %s', (keys, told) => {
    expect(redactor.keys(keys)).toBe(told)
    expect(redactorFor(false).keys(keys)).toBe(keys)
  })

  it('in a note loses four digits, and no years', () => {
    const note = (text: string) => redactor.note({ text, unheard: '' }).text
    expect([note('The pin is 4719.'), note('Since 2019.')]).toEqual(['The pin is [digits].', 'Since 2019.'])
  })
})

describe('JSON', () => {
  it('stays JSON, with strings in place of numbers that are taken out', () => {
    const before = {
      card: 4_111_111_111_111_111,
      to: ['+12025550101', { mail: 'a@b.org' }],
      order: 4711,
      ok: true,
      no: null,
    }
    expect(JSON.parse(redactor.json(JSON.stringify(before)))).toEqual({
      ...{ card: '[card]', to: ['[phone]', { mail: '[email]' }], order: 4711, ok: true, no: null },
    })
  })

  it('keeps numbers with a fraction', () => {
    const text = '{"share":0.8333333,"at":[52.5200066,-13.404954],"account":12345678.5}'
    expect(redactor.json(text)).toBe(text)
  })

  it('without anything personal stays as it was written', () => {
    const text = '{ "order":\t4711, "at": "2026-11-22T10:30:00.000Z" }'
    expect(redactor.json(text)).toBe(text)
  })

  it('that is none is a text, however deep it is', () => {
    expect(redactor.json('{"card": 4111111111111111')).toBe('{"card": [card]')
    const deep = `${'['.repeat(16_000)}"4111111111111111"${']'.repeat(16_000)}`
    expect(redactor.json(deep)).not.toContain('4111')
  })
})

describe('the time that it takes', () => {
  it.each([
    ...['1:', 'one ', '4 ', '4,', '(4) ', '1.1.1-', '1,111,', 'double ', 'one and ', 'forty ', '+', '-', '. '],
    ...[
      'a@',
      '@',
      'a.b-',
      'at ',
      'a dot ',
      'a . ',
      'a@b . ',
      'a@b . com . ',
      'a at b . com ',
      "1'111",
      '1 111 ',
      '1.111.',
      'a at b dot ',
      'a at b.',
      'at b.c',
      'a @ ',
      '1, ',
      '1. 1. ',
      '2026-11-',
      '[digits] ',
      'x1',
      '٣',
      'é',
    ],
  ])('grows with the text alone: %j again and again', (piece) => {
    const grown = growth((size) => turn(piece.repeat(size / piece.length)), 131_072)
    expect(grown).toBeLessThan(8)
  })

  it('is no longer for a list of small numbers than for as long a text', () => {
    const list = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => n % 10))
    const text = JSON.stringify('a word '.repeat(list.length / 7))
    expect(growth((size) => redactor.json(size === 4 ? list : text), 4)).toBeLessThan(2)
  })
})
