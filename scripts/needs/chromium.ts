import { canInstallPackages, installPackages, isDebian } from './debian.ts'
import { findExecutable } from './executables.ts'
import { type Need, type NeedContext, UnmetNeed } from './need.ts'

/** Debian's package of Chromium that has no window to draw: the same engine, for two thirds of the processor's time. */
const WINDOWLESS = 'chromium-headless-shell'
const NAMES = [WINDOWLESS, 'chromium', 'chromium-browser', 'google-chrome']

/**
 * Finds Chromium, as root on Debian installs it where there is none, and sets PARLEY_TEST_CHROMIUM to its program. Tests start
 * it themselves. When that variable is set already, that program is used.
 * @throws UnmetNeed with the one command to run, where it cannot be installed from here
 */
export async function findChromium({ signal }: NeedContext): Promise<Need> {
  const stop = async () => {}
  if (process.env['PARLEY_TEST_CHROMIUM']) return { env: {}, stop }
  if (!findExecutable(NAMES) && canInstallPackages()) await installPackages([WINDOWLESS], signal)
  const program = findExecutable(NAMES)
  if (program) return { env: { PARLEY_TEST_CHROMIUM: program }, stop }
  const remedy = isDebian()
    ? `Run: sudo apt-get install -y ${WINDOWLESS}`
    : 'Install it, or set PARLEY_TEST_CHROMIUM to it.'
  throw new UnmetNeed(`The tests need Chromium, and there is none here. ${remedy}`)
}
