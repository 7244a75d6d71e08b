import { type Argon2Parameters, argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { AppError } from '../kernel/errors.ts'
import { secretBytes } from '../kernel/ids.ts'

const derive = promisify(argon2)

/** What OWASP asks for at the least: 19 MiB and two passes, some 30 ms of a core. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 }
const TAG_BYTES = 32
const SALT_BYTES = 16

/** The PHC form: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`. */
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** Hashes use the threads that also write journals and look names up: most of them are left to the calls. */
const BOUNDS = { atOnce: 2, waiting: 32 }

/** The passwords of people. One of these serves a process: a few hashes are made at once, and only so many wait. */
export class Passwords {
  readonly #bounds: typeof BOUNDS
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(bounds = BOUNDS) {
    this.#bounds = bounds
  }

  /**
   * What is stored in place of a password: argon2id with a salt of its own.
   *
   * @throws AppError `unavailable` when too many wait.
   */
  async hash(password: string): Promise<string> {
    const salt = secretBytes(SALT_BYTES)
    const tag = await this.#derive({ message: password, nonce: salt, tagLength: TAG_BYTES, ...COST })
    const { memory, passes, parallelism } = COST
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`
  }

  /**
   * Whether it is the password of this hash. Without a hash it is not, and to find that out takes as long.
   *
   * @throws AppError `unavailable` when too many wait; Error for a hash that is not one of ours.
   */
  async match(password: string, hash: string | null): Promise<boolean> {
    const { salt, tag, cost } = hash === null ? NOBODYS : parsed(hash)
    const found = await this.#derive({ message: password, nonce: salt, tagLength: tag.length, ...cost })
    return timingSafeEqual(found, tag) && hash !== null
  }

  async #derive(wanted: Argon2Parameters): Promise<Buffer> {
    await this.#turn()
    try {
      return await derive('argon2id', wanted)
    } finally {
      // Whoever waits takes the place over.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running -= 1
    }
  }

  async #turn(): Promise<void> {
    const { atOnce, waiting } = this.#bounds
    if (this.#running < atOnce) {
      this.#running += 1
      return
    }
    if (this.#waiting.length >= waiting) {
      const message = 'Too many people log in at this moment: try again in a few seconds.'
      throw new AppError('unavailable', message, { headers: { 'retry-after': '5' } })
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

const NOBODYS = { salt: Buffer.alloc(SALT_BYTES), tag: Buffer.alloc(TAG_BYTES), cost: COST }

function parsed(hash: string) {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? []
  if (tag === '') throw new Error('not a hash of a password')
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  return { salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64'), cost }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
