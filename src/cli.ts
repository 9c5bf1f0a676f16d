#!/usr/bin/env node
// @ts-nocheck An old Node must load this too: it is CommonJS without types, package.json has no "type" (docs/adr/0001).
// The launcher is a file of its own because it becomes another process: nothing has to strip types again there.
'use strict'
require('../bin/livehouse.cjs')
