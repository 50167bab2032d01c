// SPDX-License-Identifier: Apache-2.0
// Keeps the page that is shown up to date: the server names what changed, and <main> is fetched again.
