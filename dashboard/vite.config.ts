import { defineConfig } from 'vite'

/** Where the service listens while somebody works on the dashboard: `npm run dev`. */
const SERVICE = 'http://127.0.0.1:8080'

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  build: {
    target: 'es2023',
    // A file that stands in another one as data: would need more of the policy than files of our own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { '/api': SERVICE, '/logs': { target: SERVICE, ws: true }, '/media-stream': { target: SERVICE, ws: true } },
  },
})
