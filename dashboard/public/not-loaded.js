// What the page is made of did not come, so that nothing of it can say so: it would stay empty.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement) || target.type !== 'module') return
    const told = document.createElement('p')
    told.setAttribute('role', 'alert')
    told.textContent = 'The page could not be loaded. The service cannot be reached, or there is a newer release of it. '
    const again = document.createElement('a')
    again.href = location.href
    again.textContent = 'Load it again'
    told.append(again)
    document.body.append(told)
  },
  true,
)
