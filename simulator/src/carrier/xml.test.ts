import { describe, expect, it } from 'vitest'
import { parseXml, XmlError } from './xml.ts'

describe('parseXml', () => {
  it('reads elements, attributes, entities, comments and CDATA', () => {
    const root = parseXml(`\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- a --><Response>
      <Say voice='x' loop = "2">Tom &amp; &#74;&#x65;rry &lt;3<![CDATA[ <b>&amp;]]></Say><Hangup/></Response>`)
    expect(root.name).toBe('Response')
    expect(root.children.map(({ name }) => name)).toEqual(['Say', 'Hangup'])
    expect(root.children[0]?.text).toBe('Tom & Jerry <3 <b>&amp;')
    expect(root.children[0]?.attributes).toEqual(
      new Map([
        ['voice', 'x'],
        ['loop', '2'],
      ]),
    )
  })

  it.each([
    '',
    'plain text',
    '<Response>',
    '<Response></Say>',
    '<Response/><Response/>',
    '<Response/>tail',
    '<Response a=1/>',
    '<Response a="1" a="2"/>',
    '<Response a="1"b="2"/>',
    '<Response a="<"/>',
    '<Response>&nbsp;</Response>',
    '<Response>a & b</Response>',
    '<Response>&amp</Response>',
    '<Response>&#0;</Response>',
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><Response>&e;</Response>',
    '<Response><!ELEMENT x></Response>',
    '{"json": true}',
    '<a>'.repeat(60) + '</a>'.repeat(60),
  ])('refuses %j', (source) => {
    expect(() => parseXml(source)).toThrow(XmlError)
  })

  it('says where the fault is', () => {
    expect(() => parseXml('<Response>\n  <Say>hello</Sai>\n</Response>')).toThrow('line 2')
  })
})
