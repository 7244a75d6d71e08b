import type { FastifyReply } from 'fastify'
import { markedCursor } from './list-cursors.ts'

/** The rows of a list as the text of a JSON array, how many they are, and the cursor of the next page, null at the end. */
type JsonRows = { json: string; count: number; nextCursor: string | null }

/** Answers with the body that `listResponse(name, …)` describes, around rows that are JSON already: nothing reads them again. */
export function sendList(reply: FastifyReply, name: string, { json, count, nextCursor }: JsonRows): FastifyReply {
  const next = JSON.stringify(markedCursor(reply.request, nextCursor))
  const text = `{"ok":true,"count":${count},"${name}":${json},"next_cursor":${next}}`
  return reply.type('application/json; charset=utf-8').send(text)
}

/** Answers with one thing that is JSON already. */
export function sendOne(reply: FastifyReply, name: string, json: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(`{"ok":true,"${name}":${json}}`)
}
