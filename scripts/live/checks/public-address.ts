import { publicAddressFault } from '../addresses.ts'
import type { Check } from '../check.ts'
import { Trouble } from '../faults.ts'
import { timed } from '../timed.ts'

const MAX_SHOWN_CHARS = 80
const OTHER_PORT = 'The carrier documents port 443 alone for streams: use that if calls stay silent (31901, 31902).'

/** Whether the public address leads to the service, tried from this machine. */
export const publicAddressCheck: Check = {
  name: 'public address',
  needs: [],
  limitMs: 10_000,
  async run({ config, publicUrl }, signal) {
    const fault = publicAddressFault(config)
    if (fault !== null && config.publicUrl === null) return { state: 'skipped', found: 'PUBLIC_URL is not set.' }
    if (fault !== null) throw new Trouble('The carrier cannot use it.', fault)
    // The first request also looks the name up and shakes hands; the second one shows the way itself.
    await probe(publicUrl, signal)
    const { ms } = await timed(probe(publicUrl, signal))
    const found = `${publicUrl} leads to the service and back in ${ms} ms.`
    const { protocol, port } = new URL(publicUrl)
    // The default port is not spelled out in an origin.
    return protocol === 'https:' && port !== '' ? { state: 'ok', found, todo: OTHER_PORT } : { state: 'ok', found }
  },
}

async function probe(publicUrl: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${publicUrl}/livez`, { redirect: 'manual', signal })
  const text = await response.text()
  if (response.status === 200 && isAlive(text)) return
  throw refused(publicUrl, response, text)
}

function refused(publicUrl: string, { status, headers }: Response, text: string): Trouble {
  const location = headers.get('location')
  if (location !== null) {
    return new Trouble(
      `${publicUrl} redirects to ${location.slice(0, MAX_SHOWN_CHARS)}.`,
      'A redirected callback does not arrive: set PUBLIC_URL to the address at the end.',
    )
  }
  if (status >= 502 && status <= 504) {
    return new Trouble(
      `${publicUrl} answers ${status}: the tunnel or proxy is there, the service behind it is not.`,
      'Start the service, and let the tunnel or proxy lead to its HOST and PORT.',
    )
  }
  const shown = text.replace(/\s+/g, ' ').slice(0, MAX_SHOWN_CHARS)
  return new Trouble(
    `${publicUrl}/livez answers ${status} and something that is not this service: ${shown}`,
    'Let the tunnel or proxy lead all paths to the HOST and PORT of the service, and ask for no login.',
  )
}

function isAlive(text: string): boolean {
  try {
    return (JSON.parse(text) as { ok?: unknown } | null)?.ok === true
  } catch {
    return false
  }
}
