/** An element: its name, attributes, child elements, and the text directly in it. */
export type XmlElement = { name: string; attributes: Map<string, string>; children: XmlElement[]; text: string }

/** A document that is not well-formed; the message names the place. */
export class XmlError extends Error {
  override name = 'XmlError'
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const NAME = /[A-Za-z_][\w.:-]*/y
const SPACE = /\s*/y
// A document that nests deeper is an attack or an accident.
const MOST_DEEP = 50

/**
 * Reads a small XML document strictly: one root, closed tags, quoted attributes, known entities. Comments, CDATA and
 * the declaration are understood; a document type is refused, for it can hide other documents.
 * @throws XmlError
 */
export function parseXml(source: string): XmlElement {
  return new XmlReader(source).document()
}

class XmlReader {
  #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source.startsWith('\ufeff') ? source.slice(1) : source
  }

  document(): XmlElement {
    if (/^<\?xml\s/.test(this.#source)) this.#past('?>')
    this.#skipMisc()
    if (!this.#looking('<')) throw this.#error('expected an element')
    const root = this.#element(1)
    this.#skipMisc()
    if (this.#at < this.#source.length) throw this.#error('something follows the root element')
    return root
  }

  #element(depth: number): XmlElement {
    if (depth > MOST_DEEP) throw this.#error('nested too deep')
    this.#expect('<')
    const name = this.#match(NAME) || this.#fail('expected a name')
    const element: XmlElement = { name, attributes: this.#attributes(), children: [], text: '' }
    if (this.#take('/>')) return element
    this.#expect('>')
    while (!this.#take('</')) this.#content(element, depth)
    if (this.#match(NAME) !== name) throw this.#error(`<${name}> is not closed`)
    this.#match(SPACE)
    this.#expect('>')
    return element
  }

  #attributes(): Map<string, string> {
    const attributes = new Map<string, string>()
    for (;;) {
      const spaced = this.#match(SPACE) !== ''
      const name = this.#match(NAME)
      if (!name) return attributes
      if (!spaced || attributes.has(name)) throw this.#error(`attribute ${name} is repeated or not set apart`)
      this.#match(SPACE)
      this.#expect('=')
      this.#match(SPACE)
      attributes.set(name, this.#quoted())
    }
  }

  #quoted(): string {
    const quote = this.#looking("'") ? "'" : '"'
    this.#expect(quote)
    const raw = this.#past(quote)
    if (raw.includes('<')) throw this.#error('< in an attribute')
    return this.#unescape(raw)
  }

  #content(element: XmlElement, depth: number): void {
    if (this.#take('<!--')) this.#past('-->')
    else if (this.#take('<![CDATA[')) element.text += this.#past(']]>')
    else if (this.#looking('<!')) throw this.#error('a document type is not taken')
    else if (this.#take('<?')) this.#past('?>')
    else if (this.#looking('<')) element.children.push(this.#element(depth + 1))
    else element.text += this.#unescape(this.#text())
  }

  #text(): string {
    const end = this.#source.indexOf('<', this.#at)
    if (end < 0) throw this.#error('an element is not closed')
    const text = this.#source.slice(this.#at, end)
    this.#at = end
    return text
  }

  #skipMisc(): void {
    for (;;) {
      this.#match(SPACE)
      if (this.#take('<!--')) this.#past('-->')
      else if (this.#take('<?')) this.#past('?>')
      else if (this.#looking('<!')) throw this.#error('a document type is not taken')
      else return
    }
  }

  #unescape(raw: string): string {
    return raw.replace(/&([^;&]*);?/g, (whole, name: string) => {
      const known = ENTITIES[name]
      if (known && whole.endsWith(';')) return known
      const code = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));$/.exec(whole.slice(1))
      const point = code ? Number.parseInt(code[1] ?? code[2] ?? '', code[1] ? 16 : 10) : Number.NaN
      if (!(point > 0 && point <= 0x10ffff)) throw this.#error(`unknown entity ${whole}`)
      return String.fromCodePoint(point)
    })
  }

  #past(end: string): string {
    const index = this.#source.indexOf(end, this.#at)
    if (index < 0) throw this.#error(`expected ${end}`)
    const skipped = this.#source.slice(this.#at, index)
    this.#at = index + end.length
    return skipped
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #looking(text: string): boolean {
    return this.#source.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    if (!this.#looking(text)) return false
    this.#at += text.length
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) throw this.#error(`expected ${text}`)
  }

  #fail(problem: string): never {
    throw this.#error(problem)
  }

  #error(problem: string): XmlError {
    const before = this.#source.slice(0, this.#at)
    return new XmlError(`${problem} (line ${before.split('\n').length}, column ${this.#at - before.lastIndexOf('\n')})`)
  }
}
