// What the pages of the hub do by themselves: light or dark, copying code, searching. Without it they read as well.
;(() => {
  const root = document.documentElement
  const kept = (() => {
    try {
      return localStorage.getItem('parley-theme')
    } catch {
      return null
    }
  })()
  if (kept === 'light' || kept === 'dark') root.dataset.theme = kept

  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches

  function offerTheme() {
    const button = document.querySelector('.theme')
    if (!button) return
    button.hidden = false
    const tell = () => button.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours')
    tell()
    button.addEventListener('click', () => {
      root.dataset.theme = isDark() ? 'light' : 'dark'
      try {
        localStorage.setItem('parley-theme', root.dataset.theme)
      } catch {
        // The choice lasts as long as the page.
      }
      tell()
    })
  }

  function offerCopying() {
    if (!navigator.clipboard) return
    for (const pre of document.querySelectorAll('main pre')) {
      const block = document.createElement('div')
      block.className = 'block'
      const button = document.createElement('button')
      button.className = 'copy'
      button.type = 'button'
      button.textContent = 'Copy'
      pre.replaceWith(block)
      block.append(pre, button)
      button.addEventListener('click', async () => {
        const isCopied = await navigator.clipboard.writeText(pre.textContent ?? '').then(
          () => true,
          () => false,
        )
        button.textContent = isCopied ? 'Copied' : 'Not allowed'
        setTimeout(() => {
          button.textContent = 'Copy'
        }, 1500)
      })
    }
  }

  const MAX_FOUND = 12
  const fold = (text) => text.toLowerCase()

  function score(passage, words) {
    const [title, heading, text] = [fold(passage.title), fold(passage.heading), fold(passage.words)]
    let sum = 0
    for (const word of words) {
      const part = (heading.includes(word) ? 6 : 0) + (title.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0)
      if (part === 0) return 0
      sum += part
    }
    return sum
  }

  function excerpt(words, searched) {
    const at = Math.max(0, ...searched.map((word) => fold(words).indexOf(word)))
    return (at > 40 ? '…' : '') + words.slice(Math.max(0, at - 40), at + 120)
  }

  function show(list, passages, text) {
    const words = fold(text).split(/\s+/).filter(Boolean)
    const found = passages
      .map((passage) => ({ passage, points: score(passage, words) }))
      .filter(({ points }) => points > 0)
      .sort((a, b) => b.points - a.points)
      .slice(0, MAX_FOUND)
    list.replaceChildren(
      ...found.map(({ passage }) => {
        const item = document.createElement('li')
        const link = document.createElement('a')
        const small = document.createElement('small')
        link.href = passage.href
        link.textContent =
          passage.heading === passage.title ? passage.title : `${passage.title} · ${passage.heading}`
        small.textContent = excerpt(passage.words, words)
        link.append(small)
        item.append(link)
        return item
      }),
    )
    if (found.length === 0 && words.length > 0) {
      const item = document.createElement('li')
      const nothing = document.createElement('p')
      nothing.textContent = 'Nothing was found.'
      item.append(nothing)
      list.append(item)
    }
    list.hidden = words.length === 0
  }

  function offerSearch() {
    const search = document.querySelector('.search')
    if (!search) return
    const input = search.querySelector('input')
    const list = search.querySelector('.found')
    search.hidden = false
    let index = null
    const load = () => {
      index ??= fetch(search.dataset.index)
        .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`${answer.status}`))))
        .catch(() => {
          // The next key tries again.
          index = null
          return []
        })
      return index
    }
    const links = () => [...list.querySelectorAll('a')]
    input.addEventListener('focus', () => void load())
    input.addEventListener('input', async () => show(list, await load(), input.value))
    search.addEventListener('keydown', (event) => {
      const all = links()
      const at = all.indexOf(document.activeElement)
      if (event.key === 'Escape') {
        list.hidden = true
        input.focus()
      } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault()
        const next = all[event.key === 'ArrowDown' ? at + 1 : at - 1]
        ;(next ?? input).focus()
      } else if (event.key === 'Enter' && event.target === input) {
        all[0]?.click()
      }
    })
    document.addEventListener('click', (event) => {
      if (!search.contains(event.target)) list.hidden = true
    })
    list.addEventListener('click', () => {
      list.hidden = true
    })
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || /INPUT|TEXTAREA|SELECT/.test(event.target.tagName)) return
      event.preventDefault()
      input.focus()
    })
  }

  document.addEventListener('DOMContentLoaded', () => {
    offerTheme()
    offerCopying()
    offerSearch()
    // On a telephone the list of pages is folded; elsewhere it is the left column.
    const hub = document.querySelector('.hub details')
    if (hub && matchMedia('(max-width: 56rem)').matches) hub.open = false
  })
})()
