import { describe, expect, it } from 'vitest'
import { ticketAddress, ticketOf, withTicket } from './task-ticket.ts'

const URL = 'https://tickets.example.com/7'

describe('the ticket of a task', () => {
  it.each([
    [{ external_ticket: { id: '7', url: URL } }, { id: '7', url: URL }],
    [{ external_ticket: { id: 7 } }, { id: '7', url: '' }],
    [{ external_ticket: null }, { id: '', url: '' }],
    [{ external_ticket: '7' }, { id: '', url: '' }],
    [{ external_ticket: { id: ['7'], url: 7 } }, { id: '', url: '' }],
    [{}, { id: '', url: '' }],
  ])('is, of %j, %j', (metadata, ticket) => expect(ticketOf(metadata)).toEqual(ticket))

  it.each([
    ['https://tickets.example.com/7', true],
    ['HTTP://tickets.example.com', true],
    ['javascript:alert(1)', false],
    ['java\nscript:alert(1)//https://', false],
    [' https://tickets.example.com', false],
    ['//tickets.example.com', false],
    ['', false],
  ])('with the address %j is a link: %j', (url, isLink) => {
    expect(ticketAddress({ id: '7', url })).toBe(isLink ? url : null)
  })
})

describe('metadata whose ticket is changed', () => {
  const others = { order: 4711, consent: true }

  it.each([
    [others, { id: '7', url: URL }, { ...others, external_ticket: { id: '7', url: URL } }],
    [{ ...others, external_ticket: 'none' }, { id: '7' }, { ...others, external_ticket: { id: '7' } }],
    [{ external_ticket: { id: 7, url: URL, kind: 'bug' } }, { url: '' }, { external_ticket: { id: 7, kind: 'bug' } }],
    [{ ...others, external_ticket: { id: '7', url: URL } }, { id: '', url: '' }, others],
  ])('keeps of %j, with %j, all else', (metadata, change, changed) => {
    expect(JSON.parse(JSON.stringify(withTicket(metadata, change)))).toEqual(changed)
  })
})
