import { type DatabaseConnection, DefaultConnectionProvider } from 'kysely'

let atWork = 0

const provider = DefaultConnectionProvider.prototype
const provide = provider.provideConnection

/** Every statement and every transaction of every handle has its connection from here. */
provider.provideConnection = async function counted<T>(
  this: DefaultConnectionProvider,
  consumer: (connection: DatabaseConnection) => Promise<T>,
) {
  atWork += 1
  try {
    return await provide.call(this, consumer)
  } finally {
    atWork -= 1
  }
} as typeof provide

/** Whether a database is asked something by this process, or about to be, that it has not answered. */
export function isDatabaseAtWork(): boolean {
  return atWork > 0
}
