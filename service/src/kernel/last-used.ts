/** Values by keys, so many of them: beyond that the one that was asked for longest ago makes room. */
export class LastUsed<Key, Value extends object> {
  readonly #max: number
  readonly #values = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key)
    if (value !== undefined) this.put(key, value)
    return value
  }

  put(key: Key, value: Value): Value {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#max && oldest !== undefined) this.#values.delete(oldest)
    return value
  }
}
