import type { FastifyReply, FastifyRequest } from 'fastify'
import { escapeHtml, PAGE_POLICY } from './page-frame.ts'

/** Where somebody goes on who was refused, and how that is called. */
type GoOn = { href: string; label: string }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** People come to this address with a browser: to them a refusal is a page, with the way on. */
    goOn?: GoOn
  }
}

/** Of a page that there is: later it may be loaded. */
export const LOAD_AGAIN: { goOn: GoOn } = { goOn: { href: '', label: 'Load the page again' } }

type Refusal = { error: string; code: string; request_id: string }

/** Answers with a page where somebody in a browser has come to an address for people. False: nothing is answered. */
export function sendRefusalPage(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): boolean {
  const goOn = request.routeOptions.config?.goOn
  if (!goOn || !request.headers.accept?.includes('text/html')) return false
  reply.headers({ 'cache-control': 'no-store', 'content-security-policy': PAGE_POLICY })
  void reply.type('text/html; charset=utf-8').send(pageOf(refusal, goOn))
  return true
}

/** It asks for nothing more, as for its style: that may be refused as well. */
function pageOf({ error, code, request_id }: Refusal, { href, label }: GoOn): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>This did not work · Parley</title>
</head>
<body>
<main>
<h1>This did not work</h1>
<p>${escapeHtml(error)}</p>
<p><a href="${escapeHtml(href)}">${escapeHtml(label)}</a></p>
<p><small>${escapeHtml(code)} · request ${escapeHtml(request_id)}</small></p>
</main>
</body>
</html>
`
}
