import { DEMO } from './demo.ts'

import type { Simulated } from './rehearsal.ts'

type Facts = {
  adminEnabled: boolean
  /** Who logs in at the dashboard; null while nobody can with a password. */
  username: string | null
  /** Whether the demo tenant is there. */
  demo: boolean
  /** What is simulated; undefined when nothing is. */
  simulated: Simulated | undefined
}

/**
 * What `npm start` prints once the service answers: where it is, how to log in, what to try, how to go live.
 *
 * @param address the base address, without a slash at its end.
 */
export function welcome(address: string, { adminEnabled, username, demo, simulated }: Facts): string {
  const lines = ['', `Parley is running at ${address}`, '', ...rehearsalLines(simulated)]
  lines.push(`  Dashboard ${address}/app/`)
  if (username !== null) lines.push(`  Log in    as ${username}; the password is ADMIN_PASSWORD in the file .env`)
  else lines.push('  Log in    is off: set ADMIN_USERNAME and ADMIN_PASSWORD in the file .env and start again')
  if (adminEnabled) {
    lines.push(
      '  Programs  send ADMIN_API_KEY of the file .env in the header x-admin-key',
      `            curl -H "x-admin-key: $(sed -n 's/^ADMIN_API_KEY=//p' .env)" ${address}/api/v1/admin/tenants`,
    )
  } else {
    lines.push(
      '  Programs  are not let in: set ADMIN_API_KEY in the file .env (at least 16 characters) and start again',
    )
  }
  if (demo) lines.push(`  Demo      tenant ${DEMO.tenantId}, agent ${DEMO.agentKey}, number ${DEMO.phoneNumber}`)
  if (demo && username !== null) lines.push(`  Talk      to it in a browser: ${address}/app/t/${DEMO.tenantId}/talk`)
  if (demo && adminEnabled && simulated?.carrier)
    lines.push(`  Call it   npm run call -- --to ${DEMO.phoneNumber}   (in another terminal)`)
  lines.push(`  Read on   ${address}/docs: guides, a first call with curl, every operation to be tried`)
  lines.push('  Go live   docs/going-live.md: a number, a model, your own address', '  Stop      Ctrl-C', '')
  return lines.join('\n')
}

function rehearsalLines(simulated: Simulated | undefined): string[] {
  if (!simulated) return []
  if (!simulated.carrier) return [REHEARSED_MODEL, '']
  return [simulated.model ? REHEARSED_CALLS : REHEARSED_CARRIER, '']
}

const REHEARSED_CALLS =
  '  This is a rehearsal: no call leaves this machine, and the simulated model does not understand speech.'
const REHEARSED_CARRIER = '  This is a rehearsal with a real model: no call leaves this machine, what callers say does.'
const REHEARSED_MODEL =
  '  This is a rehearsal on a real carrier: the model is simulated and does not understand speech.'
