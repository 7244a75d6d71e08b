import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { makeQueryClient } from './api/query-client.ts'
import { takeDecimalCommas } from './components/decimal-comma.ts'
import './design/library.css'
import './design/tokens.css'
import { colours, theme } from './design/theme.ts'
import { makeRouter } from './routes/router.ts'

/** With this the policy of the page lets style sheets in that components make; the service writes another one into each answer. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
setNonce(nonce)

takeDecimalCommas(document)

const queryClient = makeQueryClient()
const router = makeRouter(queryClient)
const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={colours} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
